#include "bindings/mpi/interception/next.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "bindings/mpi/base/failure.h"

namespace fab::mpi {

namespace {

/// Stands where there is no definition.
template <class Function>
struct Missing;
template <class Result, class... Arguments>
struct Missing<Result (*)(Arguments...)> {
  static Result call(Arguments...) {
    log_error("libfab_mpi", "the MPI library lacks a function that fab takes over; was fab built for another one?");
    return MPI_ERR_INTERN;
  }
};

/// Behind libfab_mpi there is nothing where the MPI library comes first: then it is MPI's.
template <class Function>
Function find_next(void* library, const std::string& name) {
  void* found = ::dlsym(RTLD_NEXT, name.c_str());
  if (found == nullptr && library != nullptr) found = ::dlsym(library, name.c_str());
  return found == nullptr ? Missing<Function>::call : reinterpret_cast<Function>(found);
}

Next find_all(const std::string& prefix) {
  void* const library = open_mpi_library();
#define FAB_FIND(member, name) .member = find_next<decltype(Next::member)>(library, prefix + #name),
  const Next next{FAB_TAKEN_OVER(FAB_FIND)};
#undef FAB_FIND
  if (library != nullptr) ::dlclose(library);  // fab keeps it loaded
  return next;
}

}  // namespace

// It is in the object of a function that no other object defines.
void* open_mpi_library() noexcept {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&PMPI_Get_library_version), &info) == 0 || info.dli_fname == nullptr)
    return nullptr;
  return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

const Next next_mpi = find_all("MPI_");
const Next next_pmpi = find_all("PMPI_");

}  // namespace fab::mpi
