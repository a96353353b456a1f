// Helpers of the tests of the MPI binding: communicators that free themselves, and the ranks of the job.
#pragma once

#include <fab/mpi.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace fab::test {

inline int rank_in(MPI_Comm comm) {
  int rank = -1;
  EXPECT_EQ(MPI_Comm_rank(comm, &rank), MPI_SUCCESS);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  EXPECT_EQ(MPI_Comm_size(comm, &size), MPI_SUCCESS);
  return size;
}

inline int world_rank() { return rank_in(MPI_COMM_WORLD); }
inline int world_size() { return size_of(MPI_COMM_WORLD); }

/// Frees what it holds.
class Comm {
 public:
  explicit Comm(MPI_Comm comm = MPI_COMM_NULL) : comm_(comm) {}
  Comm(Comm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Comm& operator=(Comm&&) = delete;
  ~Comm() { free(); }

  operator MPI_Comm() const { return comm_; }  // NOLINT(google-explicit-constructor): used where MPI wants the handle
  void free() {
    if (comm_ == MPI_COMM_NULL) return;
    EXPECT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
  }

 private:
  MPI_Comm comm_;
};

inline Comm cartesian(const std::vector<int>& dims, const std::vector<int>& periods) {
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &comm),
            MPI_SUCCESS);
  return Comm(comm);
}

/// All ranks, periodic: block 0 goes to (comes from) the right, block 1 to (from) the left.
inline Comm ring() { return cartesian({world_size()}, {1}); }

inline int right_of(int rank) { return (rank + 1) % world_size(); }
inline int left_of(int rank) { return (rank + world_size() - 1) % world_size(); }

}  // namespace fab::test
