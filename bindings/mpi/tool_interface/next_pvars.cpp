#include "bindings/mpi/tool_interface/next_pvars.h"

#include <string>

#include "bindings/mpi/interception/find_next.h"

namespace fab::mpi {

namespace {

NextPvars find_all(const std::string& prefix) {
#define FAB_FIND(member, name) .member = find_next<decltype(NextPvars::member)>(prefix + #name),
  const NextPvars next{FAB_PVAR_CALLS(FAB_FIND)};
#undef FAB_FIND
  return next;
}

}  // namespace

const NextPvars next_mpi_pvars = find_all("MPI_");
const NextPvars next_pmpi_pvars = find_all("PMPI_");

}  // namespace fab::mpi
