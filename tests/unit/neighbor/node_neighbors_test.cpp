// Persistent neighbour exchanges by nodes against the same calls in their single form, which go directly: on random
// graphs over nodes of several kinds. A thread is a rank.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "collectives/neighbor/neighbor_collective.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "core/communicator/refused_call.h"
#include "core/run/wait.h"
#include "support/fill.h"
#include "unit/neighbor/node_exchanges.h"
#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using collectives::NeighborCall;
using testing::HasSubstr;

enum class Form { xchg, xchg_in_place, xchg_aliases, alltoall, alltoallv, allgather, allgatherv };
constexpr Form kForms[] = {Form::xchg,      Form::xchg_in_place, Form::xchg_aliases, Form::alltoall,
                           Form::alltoallv, Form::allgather,     Form::allgatherv};

/// One rank's blocks in one form. Edges have sizes of their own, some none; scattered blocks leave gaps.
class RankSide {
 public:
  RankSide(const core::Communicator& communicator, Form form, std::uint32_t seed)
      : form_(form), seed_(seed), self_(communicator.rank()) {
    const Neighborhood& edges = communicator.neighborhood();
    for (const Edge& edge : edges.destinations)
      add(sent_, bytes_of(self_, edge.peer, edge.slot), form == Form::xchg_aliases ? edge.slot : sent_.size());
    for (const Edge& edge : edges.sources) add(received_, bytes_of(edge.peer, self_, edge.slot), received_.size());
    if (sends_one()) {
      sent_.clear();
      add(sent_, bytes_of(self_, 0, 0), 0);
    }
    if (form == Form::xchg_in_place) sent_.clear();
    send_.resize(kRoom * 64);
    recv_.resize(kRoom * 64);
  }

  void fill(int start) {
    const std::uint64_t seed = static_cast<std::uint64_t>(seed_) << 40 | static_cast<std::uint64_t>(self_) << 32;
    fill_by_chance(send_, seed | static_cast<std::uint64_t>(2 * start) << 24);
    std::ranges::fill(recv_, kUntouched);
    if (form_ == Form::xchg_in_place) fill_by_chance(recv_, seed | static_cast<std::uint64_t>(2 * start + 1) << 24);
  }

  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& communicator) {
    if (is_xchg()) return collectives::make_neighbor_xchg(communicator, send_.data(), recv_.data(), xchg());
    return collectives::make_neighbor_collective(communicator, send_.data(), recv_.data(), collective());
  }
  void perform(core::Communicator& communicator) {
    core::Run& run = start_locked(communicator, [&](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      if (is_xchg()) return collectives::start_neighbor_xchg(its, send_.data(), recv_.data(), xchg());
      return collectives::start_neighbor_collective(its, send_.data(), recv_.data(), collective());
    });
    const Status status = core::complete(run);
    EXPECT_TRUE(status.ok()) << status.message;
  }
  [[nodiscard]] const std::vector<std::byte>& received() const { return recv_; }
  /// What lies between the beginnings of the blocks of this source and the next one is the same.
  [[nodiscard]] bool has_block_of(const RankSide& other, std::size_t source) const {
    const auto block = static_cast<std::ptrdiff_t>(source * kRoom);
    return std::equal(recv_.begin() + block, recv_.begin() + block + kRoom, other.recv_.begin() + block);
  }

 private:
  static constexpr std::size_t kRoom = 64;

  [[nodiscard]] bool is_xchg() const {
    return form_ == Form::xchg || form_ == Form::xchg_in_place || form_ == Form::xchg_aliases;
  }
  [[nodiscard]] bool sends_one() const { return form_ == Form::allgather || form_ == Form::allgatherv; }
  [[nodiscard]] std::size_t bytes_of(Rank from, Rank to, std::uint32_t slot) const {
    switch (form_) {
      case Form::xchg:
      case Form::alltoallv:
        return hash(seed_ + static_cast<std::uint64_t>(from * 64 + to) * 8 + slot) % 5 * 4;
      case Form::allgatherv:
        return hash(seed_ + static_cast<std::uint64_t>(from)) % 4 * 8;
      default:
        return 24;
    }
  }
  void add(std::vector<BlockShape>& blocks, std::size_t bytes, std::size_t place) const {
    const bool scattered = blocks.size() % 3 == 1;
    blocks.push_back({static_cast<std::ptrdiff_t>(place * kRoom),
                      scattered ? Layout::vector(bytes / 4, 1, 8, Layout::contiguous(4)) : Layout::contiguous(bytes)});
  }
  [[nodiscard]] collectives::NeighborXchg xchg() const {
    return {.send = BlockList::general(sent_),
            .recv = BlockList::general(received_),
            .in_place = form_ == Form::xchg_in_place};
  }
  [[nodiscard]] collectives::NeighborCollective collective() const {
    const NeighborCall call = form_ == Form::alltoall    ? NeighborCall::alltoall
                              : form_ == Form::alltoallv ? NeighborCall::alltoallv
                              : form_ == Form::allgather ? NeighborCall::allgather
                                                         : NeighborCall::allgatherv;
    return {.call = call, .send = BlockList::general(sent_), .recv = BlockList::general(received_)};
  }

  Form form_;
  std::uint32_t seed_;
  Rank self_;
  std::vector<BlockShape> sent_;
  std::vector<BlockShape> received_;
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
};

using Topologies = std::vector<std::optional<Topology>>;

void compare(const InProcessJob::Communicators& communicators, Form form, std::uint32_t seed) {
  on_all_ranks(communicators, [&](const std::shared_ptr<core::Communicator>& communicator) {
    RankSide direct(*communicator, form, seed);
    RankSide by_node(*communicator, form, seed);
    core::Persistent exchange = by_node.make(communicator);
    for (int start = 0; start < 3; ++start) {
      direct.fill(start);
      by_node.fill(start);
      direct.perform(*communicator);
      start_and_wait(exchange);
      EXPECT_EQ(by_node.received(), direct.received()) << "rank " << communicator->rank() << ", start " << start;
    }
  });
}

Topologies graphs(int ranks, std::uint32_t seed) {
  Topologies result;
  for (DistributedGraph& part : random_distributed_graph(ranks, seed)) result.emplace_back(std::move(part));
  return result;
}

TEST(NodeNeighbors, BringWhatDirectExchangesBring) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (int nodes = 1; nodes <= std::min(ranks, 4); ++nodes)
      for (int seed = 1; seed <= kNodeSeeds; ++seed) {
        const auto its_seed = static_cast<std::uint32_t>(ranks * 100 + nodes * 10 + seed);
        SCOPED_TRACE(testing::Message() << ranks << " ranks on " << nodes << " nodes, seed " << seed);
        InProcessJob job(ranks, by_node_config(), {.seed = its_seed, .nodes = nodes_of(ranks, nodes, its_seed)});
        const Topologies topologies = graphs(ranks, its_seed);
        const auto communicators =
            job.communicators([&](Rank rank) { return topologies[static_cast<std::size_t>(rank)]; });
        for (const Form form : kForms) {
          if (form == Form::xchg_in_place) continue;  // needs as many sources as destinations
          SCOPED_TRACE(static_cast<int>(form));
          compare(communicators, form, its_seed);
        }
        if (testing::Test::HasFailure()) return;
      }
}

TEST(NodeNeighbors, BringWhatDirectExchangesBringInPlaceAndOnGrids) {
  for (const bool periodic : {false, true})
    for (int seed = 1; seed <= kNodeSeeds; ++seed) {
      InProcessJob job(
          8, by_node_config(),
          {.seed = static_cast<std::uint32_t>(seed), .nodes = nodes_of(8, 3, static_cast<std::uint32_t>(seed))});
      const auto grids = job.communicators([&](Rank) { return Cartesian({4, 2}, {periodic, periodic}); });
      compare(grids, Form::xchg, 5);
      compare(grids, Form::xchg_in_place, 5);
      const auto symmetric = job.communicators([&](Rank) { return random_graph(8, static_cast<std::uint32_t>(seed)); });
      for (const Form form : kForms) compare(symmetric, form, static_cast<std::uint32_t>(seed));
    }
}

/// Every rank has an edge to each rank of the other nodes.
Topologies edges_to_other_nodes(const std::vector<int>& nodes) {
  Topologies result;
  for (const int node : nodes) {
    std::vector<int> others;
    for (std::size_t peer = 0; peer < nodes.size(); ++peer)
      if (nodes[peer] != node) others.push_back(static_cast<int>(peer));
    result.emplace_back(DistributedGraph(others, others));
  }
  return result;
}

/// Three ranks on each of two nodes.
class TwoNodes {
 public:
  explicit TwoNodes(const Config& config, bool writes = false) : job_(6, config, {.writes = writes, .nodes = kNodes}) {
    communicators_ =
        job_.communicators([&](Rank rank) { return edges_to_other_nodes(kNodes)[static_cast<std::size_t>(rank)]; });
  }
  [[nodiscard]] const InProcessJob::Communicators& communicators() const noexcept { return communicators_; }
  /// The persistent exchanges' messages to the other node, by all ranks.
  [[nodiscard]] int messages_between(Form form) const {
    return messages_between_nodes(communicators_, kNodes, [&](const std::shared_ptr<core::Communicator>& communicator) {
      RankSide side(*communicator, form, 1);
      return side.make(communicator);
    });
  }

 private:
  static inline const std::vector<int> kNodes{0, 0, 0, 1, 1, 1};
  InProcessJob job_;
  InProcessJob::Communicators communicators_;
};

TEST(NodeNeighbors, GoByNodesWhereThatPaysOrTheVariableSaysSo) {
  Config config = caller_config();
  EXPECT_EQ(TwoNodes(config).messages_between(Form::allgather), 2);
  config.neighbor_paths = NeighborPaths::direct;
  EXPECT_EQ(TwoNodes(config).messages_between(Form::allgather), 18);
  config.neighbor_paths = NeighborPaths::by_node;
  config.local = false;
  EXPECT_EQ(TwoNodes(config).messages_between(Form::allgather), 18) << "no rank knows of nodes then";
}

TEST(NodeNeighbors, CompareCallsAndWriteIntoMemory) {
  Config config = by_node_config();
  config.check = true;
  for (const Form form : kForms) compare(TwoNodes(config).communicators(), form, 3);
  config.check = false;
  config.one_sided = OneSidedMode::on;
  for (const Form form : kForms) compare(TwoNodes(config, true).communicators(), form, 4);
}

TEST(NodeNeighbors, WaitForSingleBlocks) {
  const TwoNodes nodes(by_node_config());
  on_all_ranks(nodes.communicators(), [&](const std::shared_ptr<core::Communicator>& communicator) {
    RankSide direct(*communicator, Form::xchg, 7);
    RankSide by_node(*communicator, Form::xchg, 7);
    direct.fill(0);
    by_node.fill(0);
    direct.perform(*communicator);
    core::Persistent exchange = by_node.make(communicator);
    const std::vector<core::Arrival> arrivals = exchange.run().plan().arrivals(exchange.sources());
    {
      const core::Lock lock(exchange.engine());
      exchange.start();
    }
    for (std::size_t source = arrivals.size(); source-- > 0;) {
      EXPECT_TRUE(core::wait_any(exchange.run(), arrivals, {&source, 1}).status.ok());
      EXPECT_TRUE(by_node.has_block_of(direct, source)) << "source " << source;
    }
    core::finish(exchange.run());
    exchange.end();
  });
}

// Carriers learn it from the rank, and then refuse as well, for those that wait for them.
TEST(NodeNeighbors, TellAllThatWaitForARankWhichRefuses) {
  const TwoNodes nodes(by_node_config());
  std::atomic<int> told = 0;
  on_all_ranks(nodes.communicators(), [&](const std::shared_ptr<core::Communicator>& communicator) {
    const bool refuses = communicator->rank() == 4;
    expect_error(refuses ? Errc::invalid_argument : Errc::mismatch, {refuses ? "0 send blocks" : "rank 4"}, [&] {
      core::in_order_of_persistent(*communicator, [&] {
        RankSide side(*communicator, Form::xchg, 1);
        if (!refuses) return side.make(communicator);
        return collectives::make_neighbor_xchg(communicator, nullptr, nullptr, collectives::NeighborXchg());
      });
    });
    for (++told; told < 6; std::this_thread::yield()) communicator->engine().poll_once();
  });
  compare(nodes.communicators(), Form::alltoallv, 9);  // numbers stay in step
}

TEST(NodeNeighbors, ReportSizesThatDisagreeAsDirectExchangesDo) {
  const TwoNodes nodes(by_node_config());
  std::vector<std::string> errors(6);
  on_all_ranks(nodes.communicators(), [&](const std::shared_ptr<core::Communicator>& communicator) {
    const Rank self = communicator->rank();
    const Layout sent = Layout::contiguous(self == 0 ? 16 : 8);
    const Layout received = Layout::contiguous(8);
    std::vector<std::byte> send(64);
    std::vector<std::byte> recv(64);
    core::Persistent exchange = collectives::make_neighbor_xchg(
        communicator, send.data(), recv.data(),
        {.send = BlockList::regular(sent, 1, 3), .recv = BlockList::regular(received, 1, 3)});
    {
      const core::Lock lock(exchange.engine());
      exchange.start();
    }
    core::finish(exchange.run());
    errors[static_cast<std::size_t>(self)] = exchange.run().status().message;
    exchange.end();
  });
  for (const Rank rank : {0, 1, 2}) EXPECT_EQ(errors[static_cast<std::size_t>(rank)], "");
  for (const Rank rank : {3, 4, 5})
    EXPECT_THAT(errors[static_cast<std::size_t>(rank)], HasSubstr("from rank 0")) << "rank " << rank;
}

}  // namespace
}  // namespace fab::test
