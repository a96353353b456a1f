// Handles: the ways to complete them, many at a time, beside MPI's own operations.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "support.h"

namespace fab::test {
namespace {

class CompletionTest : public testing::Test {
 protected:
  static constexpr int kCount = 6;
  static constexpr int kIdle = 2;  ///< which handle holds nothing

  void begin_all() {
    for (int i = 0; i < kCount; ++i)
      if (i != kIdle) begin(i);
  }
  void begin(int i) {
    const auto at = static_cast<std::size_t>(i);
    sums_[at] = 0;
    ASSERT_EQ(NBC_Iallreduce(&i_plus_one(i), &sums_[at], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &handles_[at]), NBC_OK);
  }
  void expect_sum(int i) const { EXPECT_EQ(sums_[static_cast<std::size_t>(i)], (i + 1) * world_size()); }
  void expect_all_sums() const {
    for (int i = 0; i < kCount; ++i)
      if (i != kIdle) expect_sum(i);
  }
  static const int& i_plus_one(int i) {
    static const std::array<int, kCount> numbers{1, 2, 3, 4, 5, 6};
    return numbers[static_cast<std::size_t>(i)];
  }

  std::array<NBC_Handle, kCount> handles_{};
  std::array<int, kCount> sums_{};
  std::array<MPI_Status, kCount> statuses_{};
};

TEST_F(CompletionTest, WaitAndTest) {
  NBC_Handle handle = stale_handle();
  MPI_Status status;
  ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
  ASSERT_EQ(NBC_Wait(&handle, &status), NBC_OK);
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  EXPECT_EQ(NBC_Wait(&handle), NBC_OK);
  EXPECT_EQ(NBC_Test(&handle), NBC_OK);
  ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
  int flag = 0;
  while (flag == 0) ASSERT_EQ(NBC_Test(&handle, &flag, &status), NBC_OK);
  ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
  while (NBC_Progress(&handle) == NBC_CONTINUE) continue;
  EXPECT_EQ(NBC_Progress(&handle), NBC_OK);
  EXPECT_EQ(NBC_Testold(&handle), NBC_OK);
}

TEST_F(CompletionTest, Waitall) {
  begin_all();
  ASSERT_EQ(NBC_Waitall(kCount, handles_.data(), statuses_.data()), NBC_OK);
  expect_all_sums();
  EXPECT_EQ(statuses_[0].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(NBC_Waitall(kCount, handles_.data(), MPI_STATUSES_IGNORE), NBC_OK);
  EXPECT_EQ(NBC_Waitall(0, nullptr, MPI_STATUSES_IGNORE), NBC_OK);
}

TEST_F(CompletionTest, Testall) {
  begin_all();
  int flag = 0;
  while (flag == 0) ASSERT_EQ(NBC_Testall(kCount, handles_.data(), &flag, MPI_STATUSES_IGNORE), NBC_OK);
  expect_all_sums();
}

TEST_F(CompletionTest, WaitanyAndTestany) {
  begin_all();
  std::array<bool, kCount> seen{};
  for (int k = 0; k < kCount - 1; ++k) {
    int index = -1;
    if (k % 2 == 0) {
      ASSERT_EQ(NBC_Waitany(kCount, handles_.data(), &index, &statuses_[0]), NBC_OK);
    } else {
      int flag = 0;
      while (flag == 0) ASSERT_EQ(NBC_Testany(kCount, handles_.data(), &index, &flag, MPI_STATUS_IGNORE), NBC_OK);
    }
    ASSERT_TRUE(index >= 0 && index < kCount && index != kIdle) << index;
    EXPECT_FALSE(std::exchange(seen[static_cast<std::size_t>(index)], true));
    expect_sum(index);
  }
  int index = 0;
  int flag = 0;
  ASSERT_EQ(NBC_Waitany(kCount, handles_.data(), &index, MPI_STATUS_IGNORE), NBC_OK);
  EXPECT_EQ(index, MPI_UNDEFINED);
  ASSERT_EQ(NBC_Testany(kCount, handles_.data(), &index, &flag, MPI_STATUS_IGNORE), NBC_OK);
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_EQ(flag, 1);
}

TEST_F(CompletionTest, WaitsomeAndTestsome) {
  begin_all();
  std::array<int, kCount> indices{};
  int done = 0;
  for (int turn = 0; done < kCount - 1; ++turn) {
    int count = 0;
    ASSERT_EQ((turn % 2 == 0 ? NBC_Waitsome : NBC_Testsome)(kCount, handles_.data(), &count, indices.data(),
                                                            statuses_.data()),
              NBC_OK);
    ASSERT_NE(count, MPI_UNDEFINED);
    if (turn % 2 == 0) {
      EXPECT_GT(count, 0);
    }
    for (int k = 0; k < count; ++k) expect_sum(indices[static_cast<std::size_t>(k)]);
    done += count;
  }
  int count = 0;
  ASSERT_EQ(NBC_Waitsome(kCount, handles_.data(), &count, nullptr, MPI_STATUSES_IGNORE), NBC_OK);
  EXPECT_EQ(count, MPI_UNDEFINED);
  ASSERT_EQ(NBC_Testsome(kCount, handles_.data(), &count, nullptr, MPI_STATUSES_IGNORE), NBC_OK);
  EXPECT_EQ(count, MPI_UNDEFINED);
}

/// LibNBC's tags end at 32767.
TEST_F(CompletionTest, FortyThousandBarriersAtATime) {
  std::vector<NBC_Handle> handles(40000);
  for (NBC_Handle& handle : handles) ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
  ASSERT_EQ(NBC_Waitall(static_cast<int>(handles.size()), handles.data(), MPI_STATUSES_IGNORE), NBC_OK);
}

/// They have nothing to do with each other: rank 0 does them in another order.
TEST_F(CompletionTest, MixesWithOperationsOfMpi) {
  for (int turn = 0; turn < 20; ++turn) {
    int mine = world_rank() == 0 ? turn : -1;
    int theirs = world_rank() == 0 ? 100 + turn : -1;
    int sum = 0;
    NBC_Handle broadcast;
    NBC_Handle reduction;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto of_mpi = [&] { ASSERT_EQ(MPI_Ibcast(&theirs, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), MPI_SUCCESS); };
    if (world_rank() == 0) of_mpi();
    ASSERT_EQ(NBC_Ibcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD, &broadcast), NBC_OK);
    ASSERT_EQ(NBC_Iallreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &reduction), NBC_OK);
    if (world_rank() != 0) of_mpi();
    int maximum = 0;
    ASSERT_EQ(MPI_Allreduce(&turn, &maximum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), MPI_SUCCESS);
    ASSERT_EQ(NBC_Wait(&broadcast), NBC_OK);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(NBC_Wait(&reduction), NBC_OK);
    EXPECT_EQ(mine, turn);
    EXPECT_EQ(theirs, 100 + turn);
    EXPECT_EQ(maximum, turn);
    EXPECT_EQ(sum, turn * world_size());
  }
}

/// An MPI message that needs this rank's help arrives although this rank only tests.
TEST_F(CompletionTest, TestingLetsMpiProgress) {
  if (world_size() == 1) return;
  const std::size_t kBytes = 4 * 1024 * 1024;
  std::vector<char> data(kBytes, static_cast<char>(world_rank()));
  NBC_Handle handle;
  if (world_rank() == 1) {
    ASSERT_EQ(MPI_Send(data.data(), static_cast<int>(kBytes), MPI_CHAR, 0, 5, MPI_COMM_WORLD), MPI_SUCCESS);
    ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (world_rank() == 0) {
    ASSERT_EQ(MPI_Irecv(data.data(), static_cast<int>(kBytes), MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  }
  ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
  while (NBC_Test(&handle) == NBC_CONTINUE) std::this_thread::yield();
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  const auto wrong = std::count_if(data.begin(), data.end(), [](char byte) { return byte != 1; });
  EXPECT_EQ(wrong, world_rank() == 0 ? 0 : static_cast<std::ptrdiff_t>(kBytes));
}

/// The operation goes on, and the communicator may go, too.
TEST_F(CompletionTest, AFreedHandleServesAgain) {
  MPI_Comm comm = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  NBC_Handle handle = stale_handle();
  NBC_Handle other;
  int value = world_rank() == 0 ? 17 : -1;
  int after = -1;
  ASSERT_EQ(NBC_Ibcast(&value, 1, MPI_INT, 0, comm, &handle), NBC_OK);
  ASSERT_EQ(NBC_Free(&handle), NBC_OK);
  ASSERT_EQ(NBC_Free(&handle), NBC_OK);
  // A rank that has the sum knows that the broadcast has reached every rank that gave its part after the broadcast.
  ASSERT_EQ(NBC_Ibarrier(comm, &other), NBC_OK);
  ASSERT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
  ASSERT_EQ(NBC_Wait(&other), NBC_OK);
  ASSERT_EQ(NBC_Iallreduce(&value, &after, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &handle), NBC_OK);
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  EXPECT_EQ(after, 17);
}

TEST_F(CompletionTest, OneHandleServesManyOperations) {
  NBC_Handle handle = stale_handle();
  for (int turn = 0; turn < 200; ++turn) {
    int value = world_rank() == turn % world_size() ? turn : -1;
    ASSERT_EQ(NBC_Ibcast(&value, 1, MPI_INT, turn % world_size(), MPI_COMM_WORLD, &handle), NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
    ASSERT_EQ(value, turn);
  }
}

}  // namespace
}  // namespace fab::test
