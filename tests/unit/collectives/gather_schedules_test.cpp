// Promises of gathers, scatters and allgathers besides their results: numbers of steps, one operation at a time,
// bounded scratch; and calls that they refuse.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "collectives/calls/gather_calls.h"
#include "collectives/choice/registry.h"
#include "collectives/teaching/array.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using collectives::CollectiveCall;

const Layout kByte = Layout::contiguous(1);

CollectiveCall call_of(Collective collective, Rank rank, int ranks, std::size_t bytes) {
  const auto blocks = [&](int count) { return BlockList::regular(kByte, bytes, static_cast<std::size_t>(count)); };
  const bool scatters = collective == Collective::scatter;
  return collectives::gather_call({.collective = collective,
                                   .rank = rank,
                                   .ranks = ranks,
                                   .send = blocks(scatters ? ranks : 1),
                                   .recv = blocks(scatters ? 1 : ranks)});
}

std::vector<Schedule> schedules(Collective collective, const char* name, int ranks, std::size_t bytes) {
  std::vector<Schedule> result;
  for (Rank rank = 0; rank < ranks; ++rank)
    result.push_back(collectives::build(*collectives::find_algorithm(collective, name),
                                        call_of(collective, rank, ranks, bytes), {}));
  return result;
}

std::size_t messages(const Schedule& schedule, const RoundRecord& round) {
  const auto operations = schedule.operations(round);
  return static_cast<std::size_t>(
      std::ranges::count_if(operations, [](const OperationRecord& each) { return is_message(each.kind); }));
}

std::size_t longest(const std::vector<Schedule>& schedules) {
  std::size_t rounds = 0;
  for (const Schedule& schedule : schedules) rounds = std::max(rounds, schedule.rounds().size());
  return rounds;
}

std::size_t steps(const char* allgather, int ranks) {
  return longest(schedules(Collective::allgather, allgather, ranks, 8));
}

TEST(Allgather, TakesAsManyStepsAsItsFormulaSays) {
  for (const int ranks : {2, 3, 4, 5, 6, 8, 12, 16, 31, 32, 33, 64, 100}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    const auto count = static_cast<std::size_t>(ranks);
    const auto doublings = static_cast<std::size_t>(std::bit_width(count - 1));
    EXPECT_EQ(steps("linear", ranks), 1u);
    EXPECT_EQ(steps("ring", ranks), count - 1);
    EXPECT_EQ(steps("bruck", ranks), doublings);
    if (count % 2 == 0) {
      EXPECT_EQ(steps("neighbor_exchange", ranks), count / 2);
    }
    if (!std::has_single_bit(count)) continue;
    EXPECT_EQ(steps("recursive_doubling", ranks), doublings);
    EXPECT_EQ(steps("dimension_exchange", ranks), 2 * doublings);
  }
}

/// How many messages a block goes through on its way to the root or from there, at most.
int depth(const std::vector<Schedule>& schedules, OperationKind upstream) {
  int deepest = 0;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    int hops = 0;
    for (std::size_t at = rank;; ++hops) {
      const auto operations = schedules[at].operations();
      const auto link = std::ranges::find(operations, upstream, &OperationRecord::kind);
      if (link == operations.end()) break;
      at = static_cast<std::size_t>(schedules[at].peers()[link->peer]);
    }
    deepest = std::max(deepest, hops);
  }
  return deepest;
}

TEST(GatherAndScatter, AlongATreeAreLogarithmicallyDeep) {
  for (const int ranks : {2, 3, 8, 17, 64, 100}) {
    const auto doublings = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks) - 1));
    EXPECT_LE(depth(schedules(Collective::gather, "binomial", ranks, 8), OperationKind::send), doublings);
    EXPECT_LE(depth(schedules(Collective::scatter, "binomial", ranks, 8), OperationKind::recv), doublings);
    EXPECT_EQ(depth(schedules(Collective::gather, "linear", ranks, 8), OperationKind::send), 1);
    EXPECT_EQ(depth(schedules(Collective::scatter, "linear", ranks, 8), OperationKind::recv), 1);
  }
}

TEST(Allgather, OfThePapersDoesOneThingAtATime) {
  for (const char* name : {"array_1d", "array_2d", "array_3d", "dimension_exchange"})
    for (const Schedule& schedule : schedules(Collective::allgather, name, 8, 8))
      for (const RoundRecord& round : schedule.rounds()) EXPECT_LE(messages(schedule, round), 1u) << name;
}

/// When the last of ranks that do one thing after another is done, if a message takes one unit of time of both ends,
/// which wait for each other.
int synchronous_time(const std::vector<Schedule>& schedules) {
  struct Rankwise {
    std::vector<const OperationRecord*> operations;
    std::size_t next = 0;
    int time = 0;
  };
  std::vector<Rankwise> ranks(schedules.size());
  for (std::size_t i = 0; i < schedules.size(); ++i)
    for (const OperationRecord& operation : schedules[i].operations())
      if (is_message(operation.kind)) ranks[i].operations.push_back(&operation);
  const auto current = [&](std::size_t i) {
    return ranks[i].next < ranks[i].operations.size() ? ranks[i].operations[ranks[i].next] : nullptr;
  };
  const auto peer = [&](std::size_t i) { return static_cast<std::size_t>(schedules[i].peers()[current(i)->peer]); };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const OperationRecord* mine = current(i);
      if (mine == nullptr || mine->kind != OperationKind::send) continue;
      const std::size_t other = peer(i);
      const OperationRecord* theirs = current(other);
      if (theirs == nullptr || theirs->kind != OperationKind::recv || peer(other) != i) continue;
      ranks[i].time = ranks[other].time = std::max(ranks[i].time, ranks[other].time) + 1;
      ++ranks[i].next;
      ++ranks[other].next;
      moved = true;
    }
  }
  int latest = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(current(i), nullptr) << "rank " << i << " waits for ever";
    latest = std::max(latest, ranks[i].time);
  }
  return latest;
}

// Lang: 3 P - 2 on the array for odd P, 2 log2 P on the hypercube.
TEST(Allgather, OfThePapersTakesTheirTimeWhereSendersWaitForReceivers) {
  for (const int ranks : {3, 5, 7, 15, 33})
    EXPECT_LE(synchronous_time(schedules(Collective::allgather, "array_1d", ranks, 8)), 3 * ranks - 2) << ranks;
  for (const int ranks : {2, 4, 8, 64})
    EXPECT_EQ(synchronous_time(schedules(Collective::allgather, "dimension_exchange", ranks, 8)),
              2 * std::countr_zero(static_cast<unsigned>(ranks)));
  for (const int ranks : {4, 6, 9, 12, 36}) synchronous_time(schedules(Collective::allgather, "array_2d", ranks, 8));
  for (const int ranks : {8, 12, 27, 64}) synchronous_time(schedules(Collective::allgather, "array_3d", ranks, 8));
}

TEST(Gather, OnTheHypercubeNeedsScratchForTwoPackets) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{8192}, std::size_t{1'000'000}}) {
    for (const Schedule& schedule : schedules(Collective::gather, "hypercube_packets", 32, bytes))
      EXPECT_LE(schedule.scratch_bytes(), 2u * 8192) << bytes;
    for (const Schedule& schedule : schedules(Collective::gather, "hypercube", 32, bytes))
      EXPECT_LE(schedule.scratch_bytes(), 2 * (bytes + 63)) << bytes;
  }
}

int prime_factors(int number) {
  int factors = 0;
  for (int factor = 2; number > 1; ++factor)
    for (; number % factor == 0; number /= factor) ++factors;
  return factors;
}

TEST(ArrayExtents, ExistWhereTheNumberOfRanksHasAsManyFactors) {
  for (int ranks = 1; ranks <= 300; ++ranks)
    for (const int dimensions : {1, 2, 3}) {
      const std::vector<int> extents = collectives::array_extents(ranks, dimensions);
      ASSERT_EQ(!extents.empty(), dimensions == 1 || prime_factors(ranks) >= dimensions) << ranks;
      if (extents.empty()) continue;
      EXPECT_EQ(extents.size(), static_cast<std::size_t>(dimensions));
      EXPECT_EQ(std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()), ranks);
      EXPECT_TRUE(std::ranges::is_sorted(extents));
    }
  EXPECT_EQ(collectives::array_extents(36, 2), (std::vector{6, 6}));
  EXPECT_EQ(collectives::array_extents(60, 3), (std::vector{3, 4, 5}));
  EXPECT_EQ(collectives::array_extents(68, 3), (std::vector{2, 2, 17}));
}

TEST(GatherCalls, RefuseWhatDoesNotFit) {
  const auto blocks = [](std::size_t bytes, std::size_t count) { return BlockList::regular(kByte, bytes, count); };
  const auto make = [&](Collective collective, Rank rank, bool in_place, const BlockList& send, const BlockList& recv) {
    (void)collectives::gather_call({.collective = collective,
                                    .rank = rank,
                                    .ranks = 4,
                                    .root = 1,
                                    .in_place = in_place,
                                    .send = send,
                                    .recv = recv});
  };
  expect_error(Errc::invalid_argument, {"gather: 3 blocks", "4 ranks"},
               [&] { make(Collective::gather, 1, false, blocks(8, 1), blocks(8, 3)); });
  expect_error(Errc::invalid_argument, {"allgatherv: 5 blocks", "4 ranks"},
               [&] { make(Collective::allgatherv, 0, true, {}, blocks(8, 5)); });
  expect_error(Errc::invalid_count, {"scatterv: rank 1", "7 bytes", "8 bytes"},
               [&] { make(Collective::scatterv, 1, false, blocks(8, 4), blocks(7, 1)); });
  for (const Collective collective : {Collective::gatherv, Collective::scatter})
    expect_error(Errc::invalid_argument, {"in place on rank 2", "the root, rank 1"},
                 [&] { make(collective, 2, true, blocks(8, 4), blocks(8, 4)); });
  EXPECT_NO_THROW(make(Collective::gather, 2, false, blocks(8, 1), {})) << "others than the root need no blocks of all";
}

TEST(BlockList, RangesGoRoundInTheOrderOfRanks) {
  const Layout pair = Layout::contiguous(2).resized(0, 3);
  const BlockList regular = BlockList::regular(pair, 2, 4);  // blocks begin at 0, 6, 12, 18
  const Block around = regular.range(BufferId::recv, 3, 2);
  std::vector<Piece> pieces(4);
  ASSERT_EQ(list_pieces(around.layout.nodes(), pieces), 4u);
  EXPECT_THAT(pieces, testing::ElementsAre(Piece{18, 2}, Piece{21, 2}, Piece{0, 2}, Piece{3, 2}));

  const Layout element = Layout::contiguous(8);
  const int counts[] = {1, 0, 2};
  const int displacements[] = {4, 9, 0};
  const BlockList irregular = BlockList::irregular(element, counts, displacements);
  const Block two = irregular.range(BufferId::recv, 2, 3);
  pieces.resize(2);
  ASSERT_EQ(list_pieces(two.layout.nodes(), pieces), 2u);
  EXPECT_THAT(pieces, testing::ElementsAre(Piece{0, 16}, Piece{32, 8}));
}

}  // namespace
}  // namespace fab::test
