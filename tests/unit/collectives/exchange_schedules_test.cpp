// Promises of the algorithms of alltoall, reduce_scatter and scan besides their results.
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/calls/exchange_calls.h"
#include "collectives/choice/registry.h"
#include "collectives/start.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using collectives::CollectiveCall;

Schedule schedule_of(const char* algorithm, CollectiveCall call, Rank rank, int ranks) {
  call.rank = rank;
  call.ranks = ranks;
  return build(*collectives::find_algorithm(call.collective, algorithm), call, {});
}

std::size_t count(std::span<const OperationRecord> operations, OperationKind kind) {
  return static_cast<std::size_t>(
      std::ranges::count_if(operations, [kind](const OperationRecord& operation) { return operation.kind == kind; }));
}

std::size_t bytes_sent(const Schedule& schedule) {
  std::size_t bytes = 0;
  for (const OperationRecord& operation : schedule.operations())
    if (operation.kind == OperationKind::send) bytes += operation.bytes;
  return bytes;
}

TEST(Alltoall, LinearBoundsWhatIsInFlight) {
  constexpr int kRanks = 200;
  const Layout block = Layout::contiguous(8);
  for (const bool in_place : {false, true})
    for (const Rank rank : {0, 77, kRanks - 1}) {
      const Schedule schedule =
          schedule_of("linear", collectives::alltoall_call(block, kRanks, in_place), rank, kRanks);
      EXPECT_EQ(count(schedule.operations(), OperationKind::send), kRanks - 1u);
      for (const RoundRecord& round : schedule.rounds()) {
        EXPECT_LE(count(schedule.operations(round), OperationKind::send), 32u);
        EXPECT_LE(count(schedule.operations(round), OperationKind::recv), 32u);
      }
      EXPECT_LE(schedule.scratch_bytes(), 2u * 32 * 8);
    }
}

TEST(Alltoall, BruckMovesHalfOfTheBlocksInEachStep) {
  const Layout block = Layout::contiguous(8);
  const Schedule schedule = schedule_of("bruck", collectives::alltoall_call(block, 16, false), 5, 16);
  EXPECT_EQ(count(schedule.operations(), OperationKind::send), 4u);
  for (const OperationRecord& operation : schedule.operations()) {
    if (is_message(operation.kind)) {
      EXPECT_EQ(operation.bytes, 8 * 8u);
    }
  }
}

TEST(Alltoall, EmptyBlocksAreSentWhenCallsAreChecked) {
  const Layout element = Layout::contiguous(4);
  const int counts[] = {1, 0, 2, 0};
  const int places[] = {0, 1, 1, 3};
  CollectiveCall call = collectives::alltoallv_call(BlockList::irregular(element, counts, places), 4);
  EXPECT_EQ(count(schedule_of("linear", call, 0, 4).operations(), OperationKind::send), 1u);
  call.checked = true;
  EXPECT_EQ(count(schedule_of("linear", call, 0, 4).operations(), OperationKind::send), 3u);
}

// Rank 0 has nothing for rank 1, which expects a number.
TEST(Alltoall, CheckedCallsThatDisagreeAboutEmptyBlocksFail) {
  Config config = caller_config();
  config.check = true;
  InProcessJob job(2, config, {});
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  const Layout element = Layout::contiguous(4);
  const int places[] = {0, 0};
  const int none[] = {0, 0};
  const int one_from_0[] = {1, 0};
  std::vector<int> data(2);
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators)
    runs.push_back(&start_locked(*communicator, [&](core::Communicator& its) -> core::Run& {
      const BlockList nothing = BlockList::irregular(element, none, places);
      const BlockList expected = BlockList::irregular(element, its.rank() == 0 ? none : one_from_0, places);
      core::engine_lock.assert_held();
      return collectives::start(its, data.data(), data.data() + 1, collectives::alltoallv_call(nothing, expected, 2));
    }));
  job.finish(runs);
  for (core::Run* run : runs) {
    const Status status = release(*run);
    EXPECT_EQ(status.errc(), Errc::mismatch) << status.message;
  }
}

TEST(ReduceScatter, SendsNoMoreThanAVector) {
  const Layout block = Layout::contiguous(80);
  const CollectiveCall call =
      collectives::reduce_scatter_block_call(block, Operator::of<double>(ReduceOp::sum), 8, false);
  for (const char* algorithm : {"recursive_halving", "pairwise", "ring"})
    for (Rank rank = 0; rank < 8; ++rank)
      EXPECT_EQ(bytes_sent(schedule_of(algorithm, call, rank, 8)), 7 * 80u) << algorithm;
}

// In a step towards the last ranks only the lower half of a block sends.
TEST(Scan, SendsOnlyWhatIsNeeded) {
  const Layout block = Layout::contiguous(8);
  const CollectiveCall call = collectives::scan_call(block, Operator::of<double>(ReduceOp::sum), false);
  std::size_t sends = 0;
  std::size_t receives = 0;
  for (Rank rank = 0; rank < 8; ++rank) {
    const Schedule schedule = schedule_of("recursive_doubling", call, rank, 8);
    sends += count(schedule.operations(), OperationKind::send);
    receives += count(schedule.operations(), OperationKind::recv);
  }
  EXPECT_EQ(sends, 7u + 6u + 4u);
  EXPECT_EQ(receives, sends);
}

}  // namespace
}  // namespace fab::test
