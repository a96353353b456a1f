#include "bindings/mpi/interception/find_next.h"

#include <dlfcn.h>
#include <mpi.h>

/// What both libraries have, for each other: the definition of a name behind the library that this belongs to. dlsym
/// looks at the address that it returns to, so the call must not be this function's last act.
extern "C" void fab_definition_behind(const char* name, void** found) { *found = ::dlsym(RTLD_NEXT, name); }

namespace fab::mpi {

namespace {

using DefinitionBehind = decltype(&fab_definition_behind);

const void* base_of(const void* address) noexcept {
  Dl_info object{};
  return ::dladdr(address, &object) == 0 ? nullptr : object.dli_fbase;
}

/// Null in most processes, which so are spared looking at each definition.
DefinitionBehind other_library() noexcept {
  static const auto other = reinterpret_cast<DefinitionBehind>(::dlsym(RTLD_NEXT, "fab_definition_behind"));
  return other;
}

/// A handle of the MPI library, which is the object of a function that no other object defines. Null: it is not found.
void* open_mpi_library() noexcept {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&PMPI_Get_library_version), &info) == 0 || info.dli_fname == nullptr)
    return nullptr;
  return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

void* skip_fab(void* found, const char* name) noexcept {
  const DefinitionBehind other = other_library();
  if (other == nullptr || found == nullptr || base_of(found) != base_of(reinterpret_cast<void*>(other))) return found;
  other(name, &found);
  return found;
}

// dladdr reads all of the library's names, so it is asked once, and not at all where every name is found otherwise. The
// handle is never closed: fab may still ask while the process ends.
void* find_in_mpi(const char* name) noexcept {
  static void* const library = open_mpi_library();
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

}  // namespace fab::mpi
