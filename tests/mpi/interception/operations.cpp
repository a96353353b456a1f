// A program that frees what it has handed to fab right after a start, as MPI allows. Environment: as program.cpp.
#include <fab/nbc.h>

#include "interception.h"

namespace fab::test {
namespace {

/// Adds pairs.
void add(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const int*>(in);
  auto* to = static_cast<int*>(inout);
  for (int i = 0; i < 2 * *count; ++i) to[i] += from[i];
}

class Freeing : public testing::Test {
 protected:
  static constexpr int kCount = 20'000;

  Freeing() : send_(2 * kCount, world_rank() + 1), recv_(2 * kCount, -1) {
    EXPECT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_contiguous(2, MPI_INT, &pair_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_commit(&pair_), MPI_SUCCESS);
  }
  /// Others are made where those were.
  void free_comm_and_type() {
    ASSERT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_free(&pair_), MPI_SUCCESS);
    MPI_Datatype other = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_vector(3, 1, 7, MPI_DOUBLE, &other), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_free(&other), MPI_SUCCESS);
  }

  std::vector<int> send_;
  std::vector<int> recv_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype pair_ = MPI_DATATYPE_NULL;
};

TEST_F(Freeing, CommunicatorAndDatatype) {
  NBC_Handle handle;
  if (world_rank() == 0) recv_ = send_;
  ASSERT_EQ(NBC_Ibcast(recv_.data(), kCount, pair_, 0, comm_, &handle), NBC_OK);
  free_comm_and_type();
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  EXPECT_EQ(recv_, std::vector<int>(2 * kCount, 1));
}

TEST_F(Freeing, OperationAsWellOrItIsRefused) {
  NBC_Handle handle;
  MPI_Op op = MPI_OP_NULL;
  ASSERT_EQ(MPI_Op_create(add, 1, &op), MPI_SUCCESS);
  const int code = NBC_Iallreduce(send_.data(), recv_.data(), kCount, pair_, op, comm_, &handle);
  ASSERT_EQ(MPI_Op_free(&op), MPI_SUCCESS);
  EXPECT_EQ(op, MPI_OP_NULL);
  free_comm_and_type();
  if (expects("EXPECT_COMPLETED_BY", "mpi")) {
    EXPECT_EQ(code, MPI_ERR_OTHER);
    return;
  }
  ASSERT_EQ(code, NBC_OK);
  if (expects("EXPECT_ONLY_RANK_1_REFUSES", "1")) {
    EXPECT_EQ(NBC_Wait(&handle), MPI_ERR_OTHER);
    return;
  }
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  EXPECT_EQ(recv_, std::vector<int>(2 * kCount, 3));
}

// No function of the user's is involved.
TEST_F(Freeing, PredefinedOperationsAreAlwaysCarriedOut) {
  NBC_Handle handle;
  ASSERT_EQ(NBC_Iallreduce(send_.data(), recv_.data(), 2 * kCount, MPI_INT, MPI_SUM, comm_, &handle), NBC_OK);
  free_comm_and_type();
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  EXPECT_EQ(recv_, std::vector<int>(2 * kCount, 3));
}

}  // namespace
}  // namespace fab::test
