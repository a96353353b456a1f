#include "bindings/mpi/interception/next.h"

#include <dlfcn.h>

#include <string>

#include "bindings/mpi/interception/find_next.h"

namespace fab::mpi {

namespace {

Next find_all(const std::string& prefix) {
  const Library library;
#define FAB_FIND(member, name) .member = find_next<decltype(Next::member)>(library, prefix + #name),
  const Next next{FAB_TAKEN_OVER(FAB_FIND)};
#undef FAB_FIND
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
const decltype(&::PMPI_Ibcast) next_ibcast = find_next<decltype(&::PMPI_Ibcast)>(Library(), "PMPI_Ibcast");

}  // namespace fab::mpi
