// Schedules that the user builds.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "nbc/listings.h"
#include "support.h"

namespace fab::test {
namespace {

NBC_Schedule* new_schedule() {
  auto* schedule = static_cast<NBC_Schedule*>(std::malloc(sizeof(NBC_Schedule)));
  EXPECT_EQ(NBC_Sched_create(schedule), NBC_OK);
  return schedule;
}

class ScheduleTest : public testing::Test {
 protected:
  /// Commits, starts and waits.
  void run() {
    ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
    handle_.tmpbuf = nullptr;
    ASSERT_EQ(NBC_Start(&handle_, MPI_COMM_WORLD, schedule_), NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle_), NBC_OK);
  }
  void expect_start(int code) {
    handle_.tmpbuf = std::malloc(10);
    EXPECT_EQ(NBC_Start(&handle_, MPI_COMM_WORLD, schedule_), code);
    EXPECT_EQ(NBC_Free(&handle_), NBC_OK);
  }

  int rank_ = world_rank();
  int right_ = right_of(rank_);
  int left_ = left_of(rank_);
  NBC_Handle handle_ = stale_handle();
  NBC_Schedule* schedule_ = new_schedule();  ///< freed with the handle
};

/// A ring in which every rank passes on what it got: in the end every rank has everything.
TEST_F(ScheduleTest, RoundsFollowEachOther) {
  const auto ranks = static_cast<std::size_t>(world_size());
  std::vector<int> all(ranks, -1);
  const int mine = 10 * rank_;
  ASSERT_EQ(NBC_Sched_copy(&mine, 1, MPI_INT, &all[static_cast<std::size_t>(rank_)], 1, MPI_INT, schedule_), NBC_OK);
  int held = rank_;
  for (std::size_t step = 1; step < ranks; ++step) {
    ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
    const int next = left_of(held);
    ASSERT_EQ(NBC_Sched_send(&all[static_cast<std::size_t>(held)], 1, MPI_INT, right_, schedule_), NBC_OK);
    ASSERT_EQ(NBC_Sched_recv(&all[static_cast<std::size_t>(next)], 1, MPI_INT, left_, schedule_), NBC_OK);
    held = next;
  }
  run();
  for (std::size_t i = 0; i < ranks; ++i) EXPECT_EQ(all[i], 10 * static_cast<int>(i));
}

/// Messages between two ranks meet in their order in all rounds, also those of a rank to itself.
TEST_F(ScheduleTest, MessagesMeetInTheirOrder) {
  constexpr int kMessages = 250;
  std::vector<int> send;
  std::vector<int> recv(kMessages, -1);
  for (int i = 0; i < kMessages; ++i) send.push_back(1000 * rank_ + i);
  const auto send_some = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      ASSERT_EQ(NBC_Sched_send(&send[static_cast<std::size_t>(i)], 1, MPI_INT, right_, schedule_), NBC_OK);
  };
  const auto recv_some = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      ASSERT_EQ(NBC_Sched_recv(&recv[static_cast<std::size_t>(i)], 1, MPI_INT, left_, schedule_), NBC_OK);
  };
  recv_some(0, 10);
  send_some(0, 100);
  ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
  send_some(100, kMessages);
  recv_some(10, 50);
  ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
  recv_some(50, kMessages);
  run();
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(recv[static_cast<std::size_t>(i)], 1000 * left_ + i);
}

TEST_F(ScheduleTest, ProcNullIsNoPeer) {
  int value = 3;
  ASSERT_EQ(NBC_Sched_send(&value, 1, MPI_INT, MPI_PROC_NULL, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_recv(&value, 1, MPI_INT, MPI_PROC_NULL, schedule_), NBC_OK);
  run();
  EXPECT_EQ(value, 3);
}

void subtract(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
}

void sum_of_outer(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i)
    for (const int j : {5 * i, 5 * i + 2}) static_cast<int*>(inout)[j] += 2 * static_cast<int*>(in)[j];
}

/// Operands in all places, several operations in one schedule, gaps.
TEST_F(ScheduleTest, OperationsAreDoneInTheirOrder) {
  MPI_Op minus = MPI_OP_NULL;
  MPI_Op outer = MPI_OP_NULL;
  ASSERT_EQ(MPI_Op_create(subtract, 0, &minus), MPI_SUCCESS);
  ASSERT_EQ(MPI_Op_create(sum_of_outer, 0, &outer), MPI_SUCCESS);
  const Type gapped(gapped_integers());
  const std::vector<int> a = {10, 20, 30, 40, 50};
  std::vector<int> b = {1, 2, 3, 4, 5};
  std::vector<int> c = a;
  std::vector<int> d(5, -1);
  std::vector<int> e(5, -1);
  ASSERT_EQ(NBC_Sched_op(d.data(), a.data(), b.data(), 5, MPI_INT, minus, schedule_), NBC_OK);    // d = a - b
  ASSERT_EQ(NBC_Sched_op(c.data(), c.data(), b.data(), 5, MPI_INT, minus, schedule_), NBC_OK);    // c = c - b
  ASSERT_EQ(NBC_Sched_op(e.data(), a.data(), d.data(), 1, gapped, outer, schedule_), NBC_OK);     // e = 2 a + d
  ASSERT_EQ(NBC_Sched_op(b.data(), c.data(), b.data(), 5, MPI_INT, MPI_SUM, schedule_), NBC_OK);  // b = c + b
  ASSERT_EQ(NBC_Sched_op(nullptr, nullptr, nullptr, 0, MPI_INT, minus, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_op(d.data(), d.data(), a.data(), 5, MPI_INT, minus, schedule_), NBC_OK);  // d = d - a
  ASSERT_EQ(MPI_Op_free(&minus), MPI_SUCCESS);
  ASSERT_EQ(MPI_Op_free(&outer), MPI_SUCCESS);
  run();
  EXPECT_EQ(c, (std::vector<int>{9, 18, 27, 36, 45}));
  EXPECT_EQ(b, a);
  EXPECT_EQ(d, (std::vector<int>{-1, -2, -3, -4, -5}));
  EXPECT_EQ(e, (std::vector<int>{29, -1, 87, -1, -1}));
}

/// What comes is combined with what is there: a reduction along a chain, and tmpbuf, which goes with the handle.
TEST_F(ScheduleTest, AReductionAlongAChain) {
  int sum = rank_ + 1;
  handle_.tmpbuf = std::malloc(sizeof(int));
  if (rank_ > 0) {
    ASSERT_EQ(NBC_Sched_recv(handle_.tmpbuf, 1, MPI_INT, rank_ - 1, schedule_), NBC_OK);
    ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
    ASSERT_EQ(NBC_Sched_op(&sum, handle_.tmpbuf, &sum, 1, MPI_INT, MPI_SUM, schedule_), NBC_OK);
    ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
  }
  if (rank_ + 1 < world_size()) {
    ASSERT_EQ(NBC_Sched_send(&sum, 1, MPI_INT, rank_ + 1, schedule_), NBC_OK);
  }
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  ASSERT_EQ(NBC_Start(&handle_, MPI_COMM_WORLD, schedule_), NBC_OK);
  while (NBC_Progress(&handle_) == NBC_CONTINUE) std::this_thread::yield();
  EXPECT_EQ(handle_.tmpbuf, nullptr);
  EXPECT_EQ(sum, (rank_ + 1) * (rank_ + 2) / 2);
}

TEST_F(ScheduleTest, OneScheduleServesSeveralHandles) {
  int value = rank_;
  int got = -1;
  ASSERT_EQ(NBC_Sched_send(&value, 1, MPI_INT, right_, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_recv(&got, 1, MPI_INT, left_, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  std::vector<NBC_Handle> handles(3);
  for (NBC_Handle& handle : handles) {
    handle.tmpbuf = nullptr;
    ASSERT_EQ(NBC_Start(&handle, MPI_COMM_WORLD, schedule_), NBC_OK);
  }
  ASSERT_EQ(NBC_Waitall(3, handles.data(), MPI_STATUSES_IGNORE), NBC_OK);
  EXPECT_EQ(got, left_);
}

TEST_F(ScheduleTest, AFreedHandleLeavesItsScheduleToTheOperation) {
  static int value = rank_;  // needed until it is sent
  handle_.tmpbuf = std::malloc(sizeof(int));
  ASSERT_EQ(NBC_Sched_send(&value, 1, MPI_INT, right_, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_recv(handle_.tmpbuf, 1, MPI_INT, left_, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  ASSERT_EQ(NBC_Start(&handle_, MPI_COMM_WORLD, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Free(&handle_), NBC_OK);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(NBC_Ibarrier(MPI_COMM_WORLD, &handle_), NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle_), NBC_OK);
  }
}

TEST_F(ScheduleTest, WhatIsNotCommittedDoesNotStart) { expect_start(NBC_BAD_SCHED); }

TEST_F(ScheduleTest, WhatIsCommittedDoesNotChange) {
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  EXPECT_EQ(NBC_Sched_commit(schedule_), NBC_BAD_SCHED);
  EXPECT_EQ(NBC_Sched_barrier(schedule_), NBC_BAD_SCHED);
  EXPECT_EQ(NBC_Sched_send(nullptr, 0, MPI_INT, 0, schedule_), NBC_BAD_SCHED);
  EXPECT_EQ(NBC_Sched_recv(nullptr, 0, MPI_INT, MPI_PROC_NULL, schedule_), NBC_BAD_SCHED);
  expect_start(NBC_OK);
}

TEST_F(ScheduleTest, BadArguments) {
  int value = 0;
  EXPECT_EQ(NBC_Sched_send(&value, -1, MPI_INT, 0, schedule_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Sched_send(&value, 1, MPI_DATATYPE_NULL, 0, schedule_), NBC_DATATYPE_NOT_SUPPORTED);
  EXPECT_EQ(NBC_Sched_recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, schedule_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Sched_recv(nullptr, 1, MPI_INT, 0, schedule_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Sched_copy(&value, 1, MPI_INT, &value, 1, MPI_SHORT, schedule_), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Sched_op(&value, &value, &value, 1, MPI_FLOAT, MPI_BAND, schedule_), NBC_OP_NOT_SUPPORTED);
  EXPECT_EQ(NBC_Sched_send(&value, 1, MPI_INT, 0, nullptr), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Sched_create(nullptr), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Start(&handle_, MPI_COMM_WORLD, nullptr), NBC_INVALID_PARAM);
  EXPECT_EQ(NBC_Start(nullptr, MPI_COMM_WORLD, schedule_), NBC_INVALID_PARAM);
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  expect_start(NBC_OK);
}

TEST_F(ScheduleTest, ARankThatIsNotThere) {
  ASSERT_EQ(NBC_Sched_send(nullptr, 0, MPI_INT, world_size(), schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  expect_start(NBC_BAD_SCHED);
}

TEST_F(ScheduleTest, AMessageToOneselfHasTwoEnds) {
  ASSERT_EQ(NBC_Sched_recv(nullptr, 0, MPI_INT, rank_, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_barrier(schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_send(nullptr, 0, MPI_INT, rank_, schedule_), NBC_OK);
  ASSERT_EQ(NBC_Sched_commit(schedule_), NBC_OK);
  expect_start(NBC_BAD_SCHED);
}

TEST(LocalOperations, CopyAndOperation) {
  const Type gapped(gapped_integers());
  const std::vector<int> from = {1, 2, 3, 4};
  std::vector<int> to(10, -1);
  ASSERT_EQ(NBC_Copy(from.data(), 4, MPI_INT, to.data(), 2, gapped, MPI_COMM_WORLD), NBC_OK);
  EXPECT_EQ(to, (std::vector<int>{1, -1, 2, -1, -1, 3, -1, 4, -1, -1}));
  std::vector<int> back(4);
  ASSERT_EQ(NBC_Copy(to.data(), 2, gapped, back.data(), 4, MPI_INT, MPI_COMM_WORLD), NBC_OK);
  EXPECT_EQ(back, from);
  EXPECT_EQ(NBC_Copy(from.data(), 4, MPI_INT, to.data(), 3, gapped, MPI_COMM_WORLD), NBC_INVALID_PARAM);

  MPI_Op minus = MPI_OP_NULL;
  ASSERT_EQ(MPI_Op_create(subtract, 0, &minus), MPI_SUCCESS);
  const std::vector<int> b = {5, 5, 5, 5};
  const std::vector<int> expected = {-4, -3, -2, -1};
  std::vector<int> apart(4);
  std::vector<int> first = from;
  std::vector<int> second = b;
  ASSERT_EQ(NBC_Operation(apart.data(), from.data(), b.data(), minus, MPI_INT, 4), NBC_OK);
  ASSERT_EQ(NBC_Operation(first.data(), first.data(), b.data(), minus, MPI_INT, 4), NBC_OK);
  ASSERT_EQ(NBC_Operation(second.data(), from.data(), second.data(), minus, MPI_INT, 4), NBC_OK);
  EXPECT_EQ(apart, expected);
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, expected);
  ASSERT_EQ(NBC_Operation(apart.data(), from.data(), b.data(), MPI_MAX, MPI_INT, 4), NBC_OK);
  EXPECT_EQ(apart, b);
  EXPECT_EQ(NBC_Operation(apart.data(), from.data(), b.data(), MPI_OP_NULL, MPI_INT, 4), NBC_OP_NOT_SUPPORTED);
  ASSERT_EQ(MPI_Op_free(&minus), MPI_SUCCESS);
}

TEST(Listings, TheDocumentsBarrier) {
  for (int late = 0; late < world_size(); ++late) {
    NBC_Handle handle = stale_handle();
    if (world_rank() == late) {
      ASSERT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    }
    ASSERT_EQ(listing_2_Ibarrier(MPI_COMM_WORLD, &handle), NBC_OK);
    if (world_rank() != late) {
      ASSERT_EQ(NBC_Test(&handle), NBC_CONTINUE);
      ASSERT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    }
    ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  }
}

TEST(Listings, OverlapAndTheOtherForms) {
  EXPECT_EQ(listing_4(), 0);
  EXPECT_EQ(listing_5(), 0);
  EXPECT_EQ(other_forms(), 0);
}

}  // namespace
}  // namespace fab::test
