#include "bindings/mpi/interception/next.h"

#include <dlfcn.h>

#include <string>

#include "bindings/mpi/interception/find_next.h"

/// What both libraries have, for each other: the definition of a name behind the library that this belongs to. dlsym
/// looks at the address that it returns to, so the call must not be this function's last act.
extern "C" void fab_definition_behind(const char* name, void** found) { *found = ::dlsym(RTLD_NEXT, name); }

namespace fab::mpi {

namespace {

using DefinitionBehind = decltype(&fab_definition_behind);

/// The object at `address` has it, and not only what that object depends on. Null: it is none of fab's libraries.
DefinitionBehind definition_behind(void* address) noexcept {
  Dl_info object{};
  if (::dladdr(address, &object) == 0 || object.dli_fname == nullptr) return nullptr;
  void* const handle = ::dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = ::dlsym(handle, "fab_definition_behind");
  ::dlclose(handle);
  Dl_info owner{};
  const bool own = found != nullptr && ::dladdr(found, &owner) != 0 && owner.dli_fbase == object.dli_fbase;
  return own ? reinterpret_cast<DefinitionBehind>(found) : nullptr;
}

Next find_all(const std::string& prefix) {
  const Library library;
#define FAB_FIND(member, name) .member = find_next<decltype(Next::member)>(library, prefix + #name),
  const Next next{FAB_TAKEN_OVER(FAB_FIND)};
#undef FAB_FIND
  return next;
}

}  // namespace

void* skip_fab(void* found, const char* name) noexcept {
  while (found != nullptr) {
    const DefinitionBehind behind = definition_behind(found);
    if (behind == nullptr) return found;
    behind(name, &found);
  }
  return nullptr;
}

// It is in the object of a function that no other object defines.
void* open_mpi_library() noexcept {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&PMPI_Get_library_version), &info) == 0 || info.dli_fname == nullptr)
    return nullptr;
  return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

const Next next_mpi = find_all("MPI_");
const Next next_pmpi = find_all("PMPI_");
const decltype(&::PMPI_Ibcast) next_ibcast = find_next<decltype(&::PMPI_Ibcast)>(Library(), "PMPI_Ibcast");

}  // namespace fab::mpi
