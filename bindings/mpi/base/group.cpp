#include "bindings/mpi/base/group.h"

#include <numeric>

#include "bindings/mpi/base/failure.h"

namespace fab::mpi {

Group::Group(MPI_Comm comm) { require(PMPI_Comm_group(comm, &group_), "MPI_Comm_group"); }

Group::~Group() {
  if (PMPI_Group_free(&group_) != MPI_SUCCESS) log_error("MPI_Group_free", "cannot free a group");
}

std::vector<int> Group::ranks_in(const Group& other) const {
  int size = 0;
  require(PMPI_Group_size(group_, &size), "MPI_Group_size");
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> ranks(own.size());
  require(PMPI_Group_translate_ranks(group_, size, own.data(), other.group_, ranks.data()),
          "MPI_Group_translate_ranks");
  return ranks;
}

}  // namespace fab::mpi
