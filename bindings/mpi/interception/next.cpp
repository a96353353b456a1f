#include "bindings/mpi/interception/next.h"

#include <string>

#include "bindings/mpi/interception/find_next.h"

namespace fab::mpi {

namespace {

Next find_all(const std::string& prefix) {
#define FAB_FIND(member, name) .member = find_next<decltype(Next::member)>(prefix + #name),
  const Next next{FAB_TAKEN_OVER(FAB_FIND)};
#undef FAB_FIND
  return next;
}

NextMakers find_makers(const std::string& prefix) {
#define FAB_FIND(member, name) .member = find_next<decltype(NextMakers::member)>(prefix + #name),
  const NextMakers makers{FAB_MAKERS(FAB_FIND)};
#undef FAB_FIND
  return makers;
}

template <class Function>
Function find_one(const char* name) {
  return find_next<Function>(name);
}

NextInit find_init(const std::string& prefix) {
  return {find_next<decltype(NextInit::init)>(prefix + "Init"),
          find_next<decltype(NextInit::init_thread)>(prefix + "Init_thread")};
}

}  // namespace

const Next next_mpi = find_all("MPI_");
const Next next_pmpi = find_all("PMPI_");
const decltype(&::PMPI_Ibcast) next_ibcast = find_one<decltype(&::PMPI_Ibcast)>("PMPI_Ibcast");
const decltype(&::PMPI_Ibarrier) next_ibarrier = find_one<decltype(&::PMPI_Ibarrier)>("PMPI_Ibarrier");
const decltype(&::PMPI_Bcast) next_bcast = find_one<decltype(&::PMPI_Bcast)>("PMPI_Bcast");
const decltype(&::PMPI_Allreduce) next_allreduce = find_one<decltype(&::PMPI_Allreduce)>("PMPI_Allreduce");
const NextMakers next_mpi_makers = find_makers("MPI_");
const NextMakers next_pmpi_makers = find_makers("PMPI_");
const NextInit next_mpi_init = find_init("MPI_");
const NextInit next_pmpi_init = find_init("PMPI_");

}  // namespace fab::mpi
