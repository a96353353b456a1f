#include "bindings/mpi/interception/next.h"

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

const Next next_mpi = find_all("MPI_");
const Next next_pmpi = find_all("PMPI_");
const decltype(&::PMPI_Ibcast) next_ibcast = find_next<decltype(&::PMPI_Ibcast)>(Library(), "PMPI_Ibcast");

}  // namespace fab::mpi
