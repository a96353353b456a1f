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

}  // namespace

void* skip_fab(void* found, const char* name) noexcept {
  const DefinitionBehind other = other_library();
  if (other == nullptr || found == nullptr || base_of(found) != base_of(reinterpret_cast<void*>(other))) return found;
  other(name, &found);
  return found;
}

// It is the object of a function that no other object defines.
Library::Library() noexcept {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&PMPI_Get_library_version), &info) != 0 && info.dli_fname != nullptr)
    handle_ = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

Library::~Library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* Library::find(const std::string& name) const noexcept {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name.c_str());
}

}  // namespace fab::mpi
