// Codes for bad arguments. They come back, and no error handler is called.
#include <array>
#include <vector>

#include "support.h"

namespace fab::test {
namespace {

class NbcErrorTest : public testing::Test {
 protected:
  /// Errors leave a handle that is complete, and a communicator that works.
  void TearDown() override {
    EXPECT_EQ(NBC_Wait(&handle_), NBC_OK);
    int value = world_rank() == 0 ? 3 : -1;
    ASSERT_EQ(NBC_Ibcast(&value, 1, MPI_INT, 0, world_, &handle_), NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle_), NBC_OK);
    EXPECT_EQ(value, 3);
  }

  MPI_Comm world_ = MPI_COMM_WORLD;  // its errors are fatal
  NBC_Handle handle_ = stale_handle();
  std::array<int, 16> a_{};
  std::array<int, 16> b_{};
  std::array<int, 8> counts_{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<int, 8> negative_{-1, -1, -1, -1, -1, -1, -1, -1};
};

TEST_F(NbcErrorTest, Counts) {
  EXPECT_EQ(NBC_Ibcast(a_.data(), -1, MPI_INT, 0, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Iallreduce(a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ireduce_scatter(a_.data(), b_.data(), negative_.data(), MPI_INT, MPI_SUM, world_, &handle_),
            NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ireduce_scatter(a_.data(), b_.data(), nullptr, MPI_INT, MPI_SUM, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(
      NBC_Iallgatherv(a_.data(), 1, MPI_INT, b_.data(), negative_.data(), counts_.data(), MPI_INT, world_, &handle_),
      NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ialltoall(a_.data(), 1, MPI_INT, b_.data(), 2, MPI_INT, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ialltoallw(a_.data(), counts_.data(), counts_.data(), nullptr, b_.data(), counts_.data(),
                           counts_.data(), nullptr, world_, &handle_),
            NBC_INVALID_PARAM);
}

// All wait for the root, directly or not: they learn who has refused the call, and the next one is like any other.
TEST_F(NbcErrorTest, ARefusedCallUsesUpItsPlace) {
  const bool refuses = world_rank() == 0;
  const int code = NBC_Ibcast(a_.data(), refuses ? -1 : 1, MPI_INT, 0, world_, &handle_);
  EXPECT_EQ(code, refuses ? NBC_INVALID_PARAM : NBC_OK);
  if (!refuses) {
    EXPECT_EQ(NBC_Wait(&handle_), MPI_ERR_OTHER);
  }
}

TEST_F(NbcErrorTest, Roots) {
  EXPECT_EQ(NBC_Ibcast(a_.data(), 1, MPI_INT, world_size(), world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ireduce(a_.data(), b_.data(), 1, MPI_INT, MPI_SUM, -1, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Igather(a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, world_size(), world_, &handle_),
            NBC_INVALID_PARAM);
}

TEST_F(NbcErrorTest, Types) {
  EXPECT_EQ(NBC_Ibcast(a_.data(), 1, MPI_DATATYPE_NULL, 0, world_, &handle_), NBC_DATATYPE_NOT_SUPPORTED);
  MPI_Datatype uncommitted = gapped_integers();
  EXPECT_EQ(NBC_Iallgather(a_.data(), 1, uncommitted, b_.data(), 1, uncommitted, world_, &handle_),
            NBC_DATATYPE_NOT_SUPPORTED);
  ASSERT_EQ(MPI_Type_free(&uncommitted), MPI_SUCCESS);
}

TEST_F(NbcErrorTest, Operations) {
  EXPECT_EQ(NBC_Iallreduce(a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, world_, &handle_), NBC_OP_NOT_SUPPORTED);
  EXPECT_EQ(NBC_Iscan(a_.data(), b_.data(), 1, MPI_DOUBLE, MPI_BAND, world_, &handle_), NBC_OP_NOT_SUPPORTED);
  const Type derived(gapped_integers());
  EXPECT_EQ(NBC_Iallreduce(a_.data(), b_.data(), 1, derived, MPI_SUM, world_, &handle_), NBC_OP_NOT_SUPPORTED);
}

/// A null buffer is MPI_BOTTOM where displacements are in bytes, and then wrong only where a block is at address 0.
TEST_F(NbcErrorTest, NullWithDisplacements) {
  const Comm grid = ring();
  const std::vector<MPI_Datatype> types(8, MPI_INT);
  const std::vector<MPI_Aint> zero(8, 0);
  const std::vector<int> none(8, 0);
  MPI_Aint a = 0;
  ASSERT_EQ(MPI_Get_address(a_.data(), &a), MPI_SUCCESS);
  std::vector<MPI_Aint> one_null(8, a);
  one_null[1] = 0;
  const auto start = [&](const void* send, const std::vector<MPI_Aint>& sdispls, void* recv,
                         const std::vector<MPI_Aint>& rdispls, const int* counts) {
    return NBC_Ineighbor_alltoallw(send, counts, sdispls.data(), types.data(), recv, counts, rdispls.data(),
                                   types.data(), grid, &handle_);
  };
  EXPECT_EQ(start(nullptr, zero, b_.data(), zero, counts_.data()), NBC_INVALID_PARAM);
  EXPECT_EQ(start(a_.data(), zero, nullptr, zero, counts_.data()), NBC_INVALID_PARAM);
  EXPECT_EQ(start(MPI_BOTTOM, one_null, b_.data(), zero, counts_.data()), NBC_INVALID_PARAM);
  EXPECT_EQ(start(nullptr, zero, nullptr, zero, none.data()), NBC_OK);
  EXPECT_EQ(NBC_Wait(&handle_), NBC_OK);
  EXPECT_EQ(NBC_Ialltoallw(nullptr, counts_.data(), none.data(), types.data(), b_.data(), counts_.data(), none.data(),
                           types.data(), world_, &handle_),
            NBC_INVALID_PARAM);
}

TEST_F(NbcErrorTest, Buffers) {
  EXPECT_EQ(NBC_Ibcast(nullptr, 1, MPI_INT, 0, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Iallreduce(nullptr, b_.data(), 1, MPI_INT, MPI_SUM, world_, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Iallgather(a_.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world_, &handle_), NBC_INVALID_PARAM);
}

TEST_F(NbcErrorTest, Communicators) {
  EXPECT_EQ(NBC_Ibarrier(MPI_COMM_NULL, &handle_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ibarrier(world_, nullptr), NBC_INVALID_PARAM);
}

TEST_F(NbcErrorTest, Topologies) {
  EXPECT_EQ(NBC_Ineighbor_xchg(a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, world_, &handle_),
            NBC_INVALID_TOPOLOGY_COMM);
  EXPECT_EQ(NBC_Icart_shift_xchg(a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, 0, 1, world_, &handle_),
            NBC_INVALID_TOPOLOGY_COMM);
  int in = 0;
  int out = 0;
  int weighted = 0;
  EXPECT_EQ(NBC_Comm_neighbors_count(world_, &in, &out, &weighted), NBC_INVALID_TOPOLOGY_COMM);
  const Comm grid = ring();
  EXPECT_EQ(NBC_Icart_shift_xchg(a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, 1, 1, grid, &handle_),
            NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Comm_neighbors(grid, 1, a_.data(), MPI_UNWEIGHTED, 2, b_.data(), MPI_UNWEIGHTED), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ineighbor_alltoallv(a_.data(), nullptr, nullptr, MPI_INT, b_.data(), counts_.data(), counts_.data(),
                                    MPI_INT, grid, &handle_),
            NBC_INVALID_PARAM);
}

TEST_F(NbcErrorTest, Completion) {
  int result = 0;
  EXPECT_EQ(NBC_Wait(nullptr), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Test(nullptr), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Test(&handle_, nullptr, MPI_STATUS_IGNORE), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Waitall(-1, nullptr, MPI_STATUSES_IGNORE), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Waitany(1, nullptr, &result, MPI_STATUS_IGNORE), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Waitsome(0, nullptr, nullptr, nullptr, MPI_STATUSES_IGNORE), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Ibarrier(MPI_COMM_NULL, &handle_), NBC_INVALID_PARAM);
}

/// One end declares less than the other one sends.
TEST_F(NbcErrorTest, Truncation) {
  const Comm grid = ring();
  const int count = world_rank() == 0 ? 1 : 2;
  ASSERT_EQ(
      NBC_Ineighbor_xchg(a_.data(), world_size() == 1 ? 2 : count, MPI_INT, b_.data(), 1, MPI_INT, grid, &handle_),
      NBC_OK);
  const bool gets_more = world_size() == 1 || left_of(world_rank()) != 0 || right_of(world_rank()) != 0;
  const int code = NBC_Wait(&handle_);
  EXPECT_TRUE(code == (gets_more ? MPI_ERR_TRUNCATE : NBC_OK)) << code;
}

}  // namespace
}  // namespace fab::test
