// The calls besides the general exchange: equal blocks, counts and displacements, shift, broadcast.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <climits>
#include <numeric>
#include <optional>
#include <vector>

#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

using collectives::BlockList;

constexpr int kGridRanks[] = {1, 2, 3, 4, 5, 7, 8, 16};

/// Starts a call on every rank and finishes all; returns how each ended.
template <class Start>
std::vector<Status> run_everywhere(InProcessJob& job, const InProcessJob::Communicators& communicators, Start start) {
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators) runs.push_back(&start_locked(*communicator, start));
  job.finish(runs);
  std::vector<Status> statuses;
  for (core::Run* run : runs) statuses.push_back(release(*run));
  return statuses;
}

void expect_success(const std::vector<Status>& statuses) {
  for (const Status& status : statuses) EXPECT_TRUE(status.ok()) << status.message;
}

InProcessJob::Communicators ring_of(InProcessJob& job, bool periodic = true) {
  const int ranks = job.size();
  return job.communicators([=](Rank) { return Cartesian({ranks}, {periodic}); });
}

TEST(NeighborXchg, EqualBlocksLieOneExtentApart) {
  InProcessJob job(3, caller_config(), {});
  const auto communicators = ring_of(job);
  const Layout element = Layout::contiguous(4).resized(0, 12);  // one int in three
  std::vector<std::vector<int>> send(3, std::vector<int>(12, -1));
  std::vector<std::vector<int>> recv(3, std::vector<int>(12, -1));
  for (int rank = 0; rank < 3; ++rank)  // two blocks of two elements
    for (int i = 0; i < 4; ++i) send[static_cast<std::size_t>(rank)][static_cast<std::size_t>(3 * i)] = 10 * rank + i;
  expect_success(run_everywhere(job, communicators, [&](core::Communicator& communicator) -> core::Run& {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    core::engine_lock.assert_held();
    return collectives::start_neighbor_xchg(
        communicator, send[rank].data(), recv[rank].data(),
        {.send = BlockList::regular(element, 2, 2), .recv = BlockList::regular(element, 2, 2)});
  }));
  // Block 0 belongs to the neighbour above, who sent its second block downwards; block 1 to the one below.
  EXPECT_EQ(recv[0], (std::vector{12, -1, -1, 13, -1, -1, 20, -1, -1, 21, -1, -1}));
  EXPECT_EQ(recv[2], (std::vector{2, -1, -1, 3, -1, -1, 10, -1, -1, 11, -1, -1}));
}

TEST(NeighborXchg, CountsAndDisplacementsInElements) {
  InProcessJob job(2, caller_config(), {});
  const auto communicators = job.communicators([](Rank) { return Cartesian({2}, {false}); });
  const Layout element = Layout::contiguous(sizeof(int));
  std::vector<int> send{1, 2, 3, 4, 5};
  std::vector<int> recv(5, -1);
  const int displacements[] = {2};
  const int two[] = {2};
  expect_success(run_everywhere(job, communicators, [&](core::Communicator& communicator) -> core::Run& {
    static const int none[] = {0};
    const bool sends = communicator.rank() == 0;
    core::engine_lock.assert_held();
    return collectives::start_neighbor_xchg(communicator, sends ? send.data() : nullptr, sends ? nullptr : recv.data(),
                                            {.send = BlockList::irregular(element, sends ? two : none, displacements),
                                             .recv = BlockList::irregular(element, sends ? none : two, displacements)});
  }));
  EXPECT_EQ(recv, (std::vector{-1, -1, 3, 4, -1}));
}

TEST(NeighborXchg, NothingToSendNeedsNoBuffers) {
  for (const bool check : {false, true}) {
    Config config = caller_config();
    config.check = check;
    InProcessJob job(4, config, {});
    const auto communicators = ring_of(job);
    const int counts[] = {0, 0};
    const int displacements[] = {7, 100};
    const Layout element = Layout::contiguous(8);
    expect_success(run_everywhere(job, communicators, [&](core::Communicator& communicator) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_xchg(communicator, nullptr, nullptr,
                                              {.send = BlockList::irregular(element, counts, displacements),
                                               .recv = BlockList::irregular(element, counts, displacements)});
    }));
    EXPECT_EQ(job.network().left_over(), 0u) << "empty blocks are messages too, and all arrive";
  }
}

TEST(NeighborXchg, WrongNumbersOfBlocksAreRefused) {
  InProcessJob job(3, caller_config(), {});
  const auto communicators = ring_of(job);
  const Layout element = Layout::contiguous(1);
  const auto start = [&](std::size_t send_blocks, std::size_t recv_blocks, bool in_place) {
    (void)start_locked(*communicators[0], [&](core::Communicator& communicator) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_xchg(communicator, nullptr, nullptr,
                                              {.send = BlockList::regular(element, 1, send_blocks),
                                               .recv = BlockList::regular(element, 1, recv_blocks),
                                               .in_place = in_place});
    });
  };
  expect_error(Errc::invalid_argument, {"neighbor_xchg", "3 send blocks", "gives this rank 2"},
               [&] { start(3, 2, false); });
  expect_error(Errc::invalid_argument, {"neighbor_xchg", "1 receive blocks", "gives this rank 2"},
               [&] { start(2, 1, false); });
  expect_error(Errc::invalid_argument, {"neighbor_xchg", "5 send blocks", "gives this rank 2"},
               [&] { start(2, 5, true); });
}

TEST(NeighborXchg, NeedsATopology) {
  InProcessJob job(1, caller_config(), {});
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  const Layout element = Layout::contiguous(1);
  expect_error(Errc::invalid_topology, {"neighbor_xchg", "no topology"}, [&] {
    (void)start_locked(*communicators[0], [&](core::Communicator& communicator) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_xchg(
          communicator, nullptr, nullptr,
          {.send = BlockList::regular(element, 1, 0), .recv = BlockList::regular(element, 1, 0)});
    });
  });
}

TEST(NeighborXchg, ASelfEdgeWithOneEndIsRefused) {
  const DistributedGraph graph({}, {0});
  const Layout element = Layout::contiguous(1);
  expect_error(Errc::invalid_topology, {"rank 0 sends to itself more often than it receives from itself"}, [&] {
    (void)collectives::build_neighbor_xchg(
        graph.neighborhood(), 0, 1,
        {.send = BlockList::regular(element, 1, 1), .recv = BlockList::regular(element, 1, 0)}, {});
  });
}

TEST(NeighborXchg, SmallBlocksToOnePeerAreOneMessage) {
  const auto messages = [](std::size_t combine_bytes) {
    Config config = caller_config();
    config.combine_bytes = combine_bytes;
    InProcessJob job(2, config, {});
    Exchange(ring_of(job), {.longest_bytes = 20}).run(job);
    return job.network().messages();
  };
  EXPECT_EQ(messages(16384), 2u);
  EXPECT_EQ(messages(0), 4u);
}

TEST(NeighborXchg, WithinANodeBlocksToOnePeerAreMessagesEach) {
  sim::Network network(2, {});
  const auto open = [&network](const Config&, const JobInfo& its_job, const Log&) {
    return Transports{.node = network.open(its_job.rank), .network = nullptr};
  };
  InProcessJob job(open, 2, caller_config());
  const auto communicators = ring_of(job);
  const auto messages = [&communicators](std::size_t bytes) {
    ScheduleBuilder builder("test", 2);
    for (const std::uint32_t slot : {0u, 1u})
      builder.send(1, slot, {BufferId::send, static_cast<std::ptrdiff_t>(slot * bytes), Layout::contiguous(bytes)});
    return builder.commit(communicators.front()->commit_options()).operations().size();
  };
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{512}}) EXPECT_EQ(messages(bytes), 2u);
}

/// Every rank sends {rank, 100 + rank}.
struct ShiftData {
  explicit ShiftData(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      send.push_back({rank, 100 + rank});
      recv.push_back({-1, -1});
    }
  }
  std::vector<std::array<int, 2>> send;
  std::vector<std::array<int, 2>> recv;
};

class Shifts : public testing::TestWithParam<bool> {};

// Against the definition: rank r receives from r - displacement, where there is such a rank.
TEST_P(Shifts, AnyDisplacement) {
  const bool in_place = GetParam();
  const Layout block = Layout::contiguous(2 * sizeof(int));
  for (const int ranks : kGridRanks) {
    InProcessJob job(ranks, caller_config(), {});
    for (const bool periodic : {false, true}) {
      const auto communicators = ring_of(job, periodic);
      for (const int displacement : {0, 1, -1, 2, -3, ranks, -ranks, 5 * ranks + 1, INT_MAX, INT_MIN}) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, periodic " << periodic << ", by " << displacement);
        ShiftData data(ranks);
        expect_success(run_everywhere(job, communicators, [&](core::Communicator& communicator) -> core::Run& {
          const auto rank = static_cast<std::size_t>(communicator.rank());
          int* recv = in_place ? data.send[rank].data() : data.recv[rank].data();
          core::engine_lock.assert_held();
          return collectives::start_cart_shift_xchg(
              communicator, in_place ? nullptr : data.send[rank].data(), recv,
              {.send = {0, 1, &block}, .recv = {0, 1, &block}, .displacement = displacement, .in_place = in_place});
        }));
        for (int rank = 0; rank < ranks; ++rank) {
          std::int64_t source = std::int64_t{rank} - displacement;
          if (periodic) source = (source % ranks + ranks) % ranks;
          const bool exists = source >= 0 && source < ranks;
          const int untouched = in_place ? rank : -1;
          const auto& got = (in_place ? data.send : data.recv)[static_cast<std::size_t>(rank)];
          EXPECT_EQ(got[0], exists ? static_cast<int>(source) : untouched);
          EXPECT_EQ(got[1], exists ? 100 + static_cast<int>(source) : (in_place ? 100 + rank : -1));
        }
      }
    }
    EXPECT_EQ(job.network().left_over(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(InPlace, Shifts, testing::Bool());

TEST(CartShiftXchg, NeedsAGrid) {
  InProcessJob job(2, caller_config(), {});
  const Layout block = Layout::contiguous(1);
  const auto start = [&](const std::optional<Topology>& topology, int dimension) {
    const auto communicators = job.communicators([&](Rank) { return topology; });
    (void)start_locked(*communicators[0], [&](core::Communicator& communicator) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_cart_shift_xchg(
          communicator, nullptr, nullptr,
          {.send = {0, 1, &block}, .recv = {0, 1, &block}, .dimension = dimension, .displacement = 1});
    });
  };
  expect_error(Errc::invalid_topology, {"cart_shift_xchg", "no topology", "a Cartesian topology is needed"},
               [&] { start(std::nullopt, 0); });
  expect_error(Errc::invalid_topology, {"cart_shift_xchg", "graph of 2 ranks"}, [&] { start(Graph({0, 0}, {}), 0); });
  for (const int dimension : {-1, 1})
    expect_error(Errc::invalid_argument, {std::to_string(dimension).c_str()},
                 [&] { start(Cartesian({2}, {true}), dimension); });
}

TEST(CartShiftXchg, DifferentDimensionsAndDirectionsInFlightAtOnce) {
  InProcessJob job(4, caller_config(), {.seed = 3});
  const auto communicators = job.communicators([](Rank) { return Cartesian({2, 2}, {true, true}); });
  const Layout block = Layout::contiguous(sizeof(int));
  constexpr int kShifts = 8;
  std::vector<std::vector<int>> recv(4, std::vector<int>(kShifts, -1));
  std::vector<std::vector<int>> send(4, std::vector<int>(kShifts));
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators)
    for (int i = 0; i < kShifts; ++i) {
      const auto rank = static_cast<std::size_t>(communicator->rank());
      send[rank][static_cast<std::size_t>(i)] = 10 * communicator->rank() + i;
      runs.push_back(&start_locked(*communicator, [&](core::Communicator& its) -> core::Run& {
        core::engine_lock.assert_held();
        return collectives::start_cart_shift_xchg(
            its, &send[rank][static_cast<std::size_t>(i)], &recv[rank][static_cast<std::size_t>(i)],
            {.send = {0, 1, &block}, .recv = {0, 1, &block}, .dimension = i % 2, .displacement = i % 4 < 2 ? 1 : -1});
      }));
    }
  job.finish(runs);
  for (core::Run* run : runs) EXPECT_TRUE(release(*run).ok());
  for (int rank = 0; rank < 4; ++rank)
    for (int i = 0; i < kShifts; ++i)
      EXPECT_EQ(recv[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)],
                10 * (rank ^ (i % 2 == 0 ? 2 : 1)) + i);
}

}  // namespace
}  // namespace fab::test
