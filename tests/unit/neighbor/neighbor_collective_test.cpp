// The standard's neighbourhood collectives against its definition: on grids a message in each direction of each
// dimension, on graphs the k-th edge between two ranks to the k-th.
#include "collectives/neighbor/neighbor_collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using collectives::NeighborCall;
using collectives::NeighborCollective;

/// Block `block` of rank `rank`.
struct Place {
  Rank rank = 0;
  std::size_t block = 0;
};

/// Who sends what: for each rank and each of its receive blocks, the send block that comes there.
struct Pattern {
  std::vector<std::optional<Topology>> topologies;
  std::vector<std::size_t> send_blocks;  ///< of each rank
  std::vector<std::vector<std::optional<Place>>> sources;
};

/// By coordinates. Directions are -1, then +1.
Pattern grid(const std::vector<int>& dims, const std::vector<bool>& periodic) {
  Pattern pattern;
  int ranks = 1;
  for (const int extent : dims) ranks *= extent;
  for (Rank rank = 0; rank < ranks; ++rank) {
    pattern.topologies.emplace_back(Cartesian(dims, periodic));
    pattern.send_blocks.push_back(2 * dims.size());
    auto& sources = pattern.sources.emplace_back(2 * dims.size());
    int stride = ranks;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      stride /= dims[d];
      const int here = rank / stride % dims[d];
      for (const std::size_t up : {0u, 1u}) {
        int there = here + (up == 1 ? 1 : -1);
        if (!periodic[d] && (there < 0 || there >= dims[d])) continue;
        there = (there + dims[d]) % dims[d];
        sources[2 * d + up] = Place{rank + (there - here) * stride, 2 * d + (1 - up)};
      }
    }
  }
  return pattern;
}

/// From the lists of all ranks.
Pattern edges(const std::vector<std::vector<int>>& sources, const std::vector<std::vector<int>>& destinations) {
  Pattern pattern;
  for (std::size_t rank = 0; rank < sources.size(); ++rank) {
    pattern.send_blocks.push_back(destinations[rank].size());
    auto& places = pattern.sources.emplace_back();
    for (std::size_t i = 0; i < sources[rank].size(); ++i) {
      const auto begin = sources[rank].begin();
      const int from = sources[rank][i];
      auto earlier = std::count(begin, begin + static_cast<std::ptrdiff_t>(i), from);
      const std::vector<int>& theirs = destinations[static_cast<std::size_t>(from)];
      std::size_t block = 0;
      while (theirs[block] != static_cast<int>(rank) || earlier-- > 0) ++block;
      places.emplace_back(Place{from, block});
    }
  }
  return pattern;
}

Pattern graph(int ranks, std::uint32_t seed) {
  const Graph whole = random_graph(ranks, seed);
  std::vector<std::vector<int>> lists;
  for (Rank rank = 0; rank < ranks; ++rank)
    lists.emplace_back(whole.neighbors(rank).begin(), whole.neighbors(rank).end());
  Pattern pattern = edges(lists, lists);
  pattern.topologies.assign(lists.size(), whole);
  return pattern;
}

Pattern distributed_graph(int ranks, std::uint32_t seed) {
  std::vector<std::vector<int>> sources;
  std::vector<std::vector<int>> destinations;
  std::vector<std::optional<Topology>> topologies;
  for (const DistributedGraph& part : random_distributed_graph(ranks, seed)) {
    sources.emplace_back(part.sources().begin(), part.sources().end());
    destinations.emplace_back(part.destinations().begin(), part.destinations().end());
    topologies.emplace_back(part);
  }
  Pattern pattern = edges(sources, destinations);
  pattern.topologies = topologies;
  return pattern;
}

/// One call of all ranks. Blocks lie kRoom numbers apart, and of unequal ones some have none.
class Calls {
 public:
  static constexpr std::size_t kRoom = 3;

  /// In place: equal blocks, as many to send as to receive.
  Calls(const Pattern& pattern, NeighborCall call, bool in_place = false)
      : pattern_(pattern), call_(call), in_place_(in_place) {
    const std::size_t ranks = pattern.topologies.size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      send_.emplace_back(to_all() ? kRoom : pattern.send_blocks[rank] * kRoom);
      for (std::size_t i = 0; i < send_.back().size(); ++i) send_.back()[i] = static_cast<int>(10'000 * (rank + 1) + i);
      recv_.emplace_back(pattern.sources[rank].size() * kRoom, -1);
      send_counts_.push_back(counts(static_cast<Rank>(rank), to_all() ? 1 : pattern.send_blocks[rank]));
      recv_counts_.emplace_back();
      for (const auto& source : pattern.sources[rank]) recv_counts_.back().push_back(source ? size_of(*source) : 2);
    }
    if (in_place) recv_ = send_;
    displacements_.resize(1000);
    for (std::size_t i = 0; i < displacements_.size(); ++i) displacements_[i] = static_cast<int>(kRoom * i);
  }

  core::Run& start(core::Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const BlockList send = in_place_ ? BlockList() : list(send_counts_[rank]);
    core::engine_lock.assert_held();
    return collectives::start_neighbor_collective(communicator, in_place_ ? nullptr : send_[rank].data(),
                                                  recv_[rank].data(),
                                                  {call_, send, list(recv_counts_[rank]), in_place_});
  }

  void check() const {
    for (std::size_t rank = 0; rank < recv_.size(); ++rank) {
      std::vector<int> expected = in_place_ ? send_[rank] : std::vector<int>(recv_[rank].size(), -1);
      for (std::size_t i = 0; i < pattern_.sources[rank].size(); ++i) {
        const std::optional<Place>& source = pattern_.sources[rank][i];
        for (std::size_t k = 0; source && k < static_cast<std::size_t>(size_of(*source)); ++k)
          expected[i * kRoom + k] =
              send_[static_cast<std::size_t>(source->rank)][(to_all() ? 0 : source->block) * kRoom + k];
      }
      EXPECT_EQ(recv_[rank], expected) << "rank " << rank;
    }
  }

 private:
  [[nodiscard]] bool to_all() const { return call_ == NeighborCall::allgather || call_ == NeighborCall::allgatherv; }
  [[nodiscard]] bool equal() const { return call_ == NeighborCall::allgather || call_ == NeighborCall::alltoall; }
  [[nodiscard]] int size_of(const Place& sent) const {
    if (equal()) return kRoom;
    return (sent.rank + (to_all() ? 0 : static_cast<int>(sent.block))) % (static_cast<int>(kRoom) + 1);
  }
  [[nodiscard]] std::vector<int> counts(Rank rank, std::size_t blocks) const {
    std::vector<int> result;
    for (std::size_t block = 0; block < blocks; ++block) result.push_back(size_of({rank, block}));
    return result;
  }
  [[nodiscard]] BlockList list(const std::vector<int>& counts) const {
    if (equal()) return BlockList::regular(element_, kRoom, counts.size());
    return BlockList::irregular(element_, counts, displacements_);
  }

  const Pattern& pattern_;
  NeighborCall call_;
  bool in_place_;
  Layout element_ = Layout::contiguous(sizeof(int));
  std::vector<std::vector<int>> send_;
  std::vector<std::vector<int>> recv_;
  std::vector<std::vector<int>> send_counts_;
  std::vector<std::vector<int>> recv_counts_;
  std::vector<int> displacements_;
};

/// All calls at once.
void perform(const Pattern& pattern, std::uint32_t seed) {
  const auto ranks = static_cast<int>(pattern.topologies.size());
  InProcessJob job(ranks, caller_config(), {.seed = seed});
  const auto communicators =
      job.communicators([&](Rank rank) { return pattern.topologies[static_cast<std::size_t>(rank)]; });
  std::vector<std::unique_ptr<Calls>> calls;
  for (const NeighborCall call :
       {NeighborCall::allgather, NeighborCall::allgatherv, NeighborCall::alltoall, NeighborCall::alltoallv})
    calls.push_back(std::make_unique<Calls>(pattern, call));
  bool both_ways = true;  // as many blocks to send as to receive, on all ranks
  for (std::size_t rank = 0; rank < pattern.topologies.size(); ++rank)
    both_ways = both_ways && pattern.send_blocks[rank] == pattern.sources[rank].size();
  if (both_ways) calls.push_back(std::make_unique<Calls>(pattern, NeighborCall::alltoall, true));
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators)
    for (const auto& call : calls)
      runs.push_back(
          &start_locked(*communicator, [&](core::Communicator& its) -> core::Run& { return call->start(its); }));
  ASSERT_NO_FATAL_FAILURE(job.finish(runs));
  for (core::Run* run : runs) {
    const Status status = release(*run);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  for (const auto& call : calls) call->check();
  EXPECT_EQ(job.left_over(), 0u);
}

TEST(NeighborCollectives, OnGridsOfAllKinds) {
  for (const int ranks : {1, 2, 3, 4, 8, 12})
    for (const int dimensions : {1, 2, 3})
      for (unsigned periods = 0; periods < 1u << dimensions; ++periods) {
        std::vector<bool> periodic;
        for (int d = 0; d < dimensions; ++d) periodic.push_back((periods >> d & 1) != 0);
        SCOPED_TRACE(testing::Message() << ranks << " ranks, " << dimensions << " dimensions, periods " << periods);
        ASSERT_NO_FATAL_FAILURE(perform(grid(grid_dims(ranks, dimensions), periodic), periods + 1));
      }
}

TEST(NeighborCollectives, OnGraphs) {
  for (const int ranks : {1, 2, 3, 5, 9})
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      ASSERT_NO_FATAL_FAILURE(perform(graph(ranks, seed), seed));
      ASSERT_NO_FATAL_FAILURE(perform(distributed_graph(ranks, seed), seed));
    }
}

TEST(NeighborCollectives, SecondCallsBuildNothing) {
  InProcessJob job(2, caller_config(), {});
  const Pattern pattern = grid({2}, {true});
  const auto communicators = job.communicators([&](Rank) { return pattern.topologies[0]; });
  for (int turn = 0; turn < 3; ++turn) {
    Calls calls(pattern, NeighborCall::alltoall);
    std::vector<core::Run*> runs;
    for (const auto& communicator : communicators)
      runs.push_back(
          &start_locked(*communicator, [&](core::Communicator& its) -> core::Run& { return calls.start(its); }));
    job.finish(runs);
    for (core::Run* run : runs) EXPECT_TRUE(release(*run).ok());
    calls.check();
  }
  const core::Lock lock(communicators[0]->engine());
  EXPECT_EQ(communicators[0]->cached_plans(), 1u);
}

TEST(NeighborCollectives, WrongNumbersOfBlocksAreRefused) {
  InProcessJob job(3, caller_config(), {});
  const auto communicators = job.communicators([](Rank) { return Cartesian({3}, {false}); });
  const Layout element = Layout::contiguous(1);
  const auto start = [&](NeighborCall call, std::size_t send_blocks, std::size_t recv_blocks) {
    (void)start_locked(*communicators[0], [&](core::Communicator& communicator) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_collective(
          communicator, nullptr, nullptr,
          {call, BlockList::regular(element, 1, send_blocks), BlockList::regular(element, 1, recv_blocks)});
    });
  };
  expect_error(Errc::invalid_argument, {"neighbor_alltoall", "1 send blocks", "needs 2"},
               [&] { start(NeighborCall::alltoall, 1, 2); });
  expect_error(Errc::invalid_argument, {"neighbor_alltoallv", "3 receive blocks", "needs 2"},
               [&] { start(NeighborCall::alltoallv, 2, 3); });
  expect_error(Errc::invalid_argument, {"neighbor_allgather", "2 send blocks", "needs 1"},
               [&] { start(NeighborCall::allgather, 2, 2); });
}

TEST(NeighborCollectives, NeedATopology) {
  InProcessJob job(1, caller_config(), {});
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  const Layout element = Layout::contiguous(1);
  const NeighborCollective call{NeighborCall::allgatherv, BlockList::regular(element, 1, 1), {}};
  expect_error(Errc::invalid_topology, {"neighbor_allgatherv", "no topology"}, [&] {
    (void)start_locked(*communicators[0], [&](core::Communicator& communicator) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_collective(communicator, nullptr, nullptr, call);
    });
  });
  expect_error(Errc::invalid_topology, {"neighbor_allgatherv", "no topology"},
               [&] { (void)collectives::make_neighbor_collective(communicators[0], nullptr, nullptr, call); });
}

}  // namespace
}  // namespace fab::test
