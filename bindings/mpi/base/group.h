// The processes of a communicator, and their ranks in another one.
#pragma once

#include <mpi.h>

#include <vector>

namespace fab::mpi {

/// An MPI_Group of its own, freed with this object.
class Group {
 public:
  /// Of all processes of `comm`. Throws Failure.
  explicit Group(MPI_Comm comm);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// The rank in `other` of each process, in this group's order; MPI_UNDEFINED for those that are not there. Throws
  /// Failure.
  [[nodiscard]] std::vector<int> ranks_in(const Group& other) const;

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

}  // namespace fab::mpi
