#include "bindings/mpi/interception/find_next.h"

#include <mpi.h>

namespace fab::mpi {

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
