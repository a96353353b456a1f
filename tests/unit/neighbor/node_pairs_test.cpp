// How the ranks of nodes agree about what goes by nodes, and the schedules that come of it, without a network.
#include "collectives/neighbor/node_pairs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "collectives/neighbor/node_agreement.h"
#include "collectives/neighbor/node_cost.h"
#include "collectives/neighbor/node_exchange.h"
#include "support/fill.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

using collectives::NodeAgreement;
using collectives::NodeEdge;
using collectives::NodeEdges;
using collectives::NodePair;
using collectives::NodeRoutes;
using collectives::WordExchange;
using collectives::WordMessage;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;

/// The edges and blocks of a rank.
struct Part {
  Neighborhood edges;
  std::vector<Block> outgoing;
  std::vector<Block> incoming;
};

Block block_at(BufferId buffer, std::size_t place, std::size_t bytes) {
  return {buffer, static_cast<std::ptrdiff_t>(place), Layout::contiguous(bytes)};
}

/// Of all ranks, with a block of so many bytes for each edge; `one_value`: each rank sends one to all.
std::vector<Part> parts_of(const std::vector<DistributedGraph>& graph, std::size_t bytes, bool one_value) {
  std::vector<Part> parts;
  for (const DistributedGraph& of_rank : graph) {
    Part& part = parts.emplace_back();
    part.edges = of_rank.neighborhood();
    for (std::size_t i = 0; i < part.edges.destinations.size(); ++i)
      part.outgoing.push_back(block_at(BufferId::send, one_value ? 0 : i * bytes, bytes));
    for (std::size_t i = 0; i < part.edges.sources.size(); ++i)
      part.incoming.push_back(block_at(BufferId::recv, i * bytes, bytes));
  }
  return parts;
}

/// Each rank sends to all that are not of its node.
std::vector<DistributedGraph> all_to_other_nodes(const core::NodeMap& map) {
  std::vector<DistributedGraph> graph;
  for (Rank self = 0; self < map.ranks(); ++self) {
    std::vector<int> others;
    for (Rank peer = 0; peer < map.ranks(); ++peer)
      if (map.node_of(peer) != map.node_of(self)) others.push_back(peer);
    graph.emplace_back(others, others);
  }
  return graph;
}

/// Takes from `exchanges` what `self` receives in this step.
std::vector<WordMessage> delivered(const std::vector<WordExchange>& exchanges, Rank self) {
  std::vector<WordMessage> received = exchanges[static_cast<std::size_t>(self)].receives;
  for (WordMessage& message : received) {
    const auto& sends = exchanges[static_cast<std::size_t>(message.peer)].sends;
    const auto found = std::ranges::find_if(
        sends, [&](const WordMessage& sent) { return sent.peer == self && sent.slot == message.slot; });
    EXPECT_NE(found, sends.end()) << "rank " << self << " waits for " << message.peer;
    if (found == sends.end()) continue;
    EXPECT_EQ(found->words.size(), message.words.size());
    message.words = found->words;
  }
  return received;
}

std::vector<NodeRoutes> agree(const core::NodeMap& map, const std::vector<Part>& parts,
                              const NodeAgreement::Decide& decide) {
  std::vector<NodeAgreement> ranks;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const Part& part = parts[rank];
    const auto self = static_cast<Rank>(rank);
    ranks.emplace_back(map, self, collectives::edges_between_nodes(map, self, part.edges, part.outgoing, part.incoming),
                       map.node_of(self) == 0 ? 1 : 2, decide);
  }
  for (int step = 0; step < NodeAgreement::kSteps; ++step) {
    std::vector<WordExchange> exchanges;
    for (const NodeAgreement& rank : ranks) exchanges.push_back(rank.messages(step));
    std::size_t sent = 0;
    std::size_t received = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      sent += exchanges[rank].sends.size();
      received += exchanges[rank].receives.size();
      ranks[rank].take(step, delivered(exchanges, static_cast<Rank>(rank)));
    }
    EXPECT_EQ(sent, received) << "step " << step;
  }
  std::vector<NodeRoutes> routes;
  for (const NodeAgreement& rank : ranks) routes.push_back(rank.routes());
  return routes;
}

bool always(const NodePair& /*pair*/, std::uint64_t /*network*/) { return true; }

struct Between {
  std::size_t messages = 0;
  std::size_t bytes = 0;
  std::vector<std::size_t> sent_by;  ///< messages of each rank
};

/// What goes between nodes.
Between between_nodes(const core::NodeMap& map, const std::vector<Part>& parts, const std::vector<NodeRoutes>& routes) {
  Between result;
  for (Rank self = 0; self < map.ranks(); ++self) {
    const auto rank = static_cast<std::size_t>(self);
    ScheduleBuilder builder("test", map.ranks());
    collectives::exchange_by_nodes(map, routes[rank], parts[rank].edges, self, builder, parts[rank].outgoing,
                                   parts[rank].incoming, "test");
    const Schedule schedule = builder.commit();
    std::size_t sent = 0;
    for (const OperationRecord& operation : schedule.operations()) {
      if (operation.kind != OperationKind::send) continue;
      if (map.node_of(schedule.peers()[operation.peer]) == map.node_of(self)) continue;
      ++sent;
      result.bytes += operation.bytes;
    }
    result.messages += sent;
    result.sent_by.push_back(sent);
  }
  return result;
}

TEST(NodePairs, AreDividedAmongTheRanksOfANode) {
  const auto map = core::NodeMap::regular(9 * 4, 4);
  for (int node = 0; node < map.nodes(); ++node) {
    std::vector<int> sends(4);
    std::vector<int> receives(4);
    for (int other = 0; other < map.nodes(); ++other) {
      if (other == node) continue;
      EXPECT_EQ(map.node_of(collectives::sending_carrier(map, node, other)), node);
      EXPECT_EQ(map.node_of(collectives::receiving_carrier(map, other, node)), node);
      ++sends[static_cast<std::size_t>(map.index_of(collectives::sending_carrier(map, node, other)))];
      ++receives[static_cast<std::size_t>(map.index_of(collectives::receiving_carrier(map, other, node)))];
    }
    EXPECT_THAT(sends, ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(receives, ElementsAre(2, 2, 2, 2));
  }
}

TEST(NodePairs, OfTwoNodesAreSentByOneRankAndReceivedByAnother) {
  const auto map = core::NodeMap::regular(8, 4);
  EXPECT_NE(collectives::sending_carrier(map, 0, 1), collectives::receiving_carrier(map, 1, 0));
}

TEST(NodePairs, CountBlocksOfTheSameMemoryAndLayoutOnce) {
  const auto map = core::NodeMap::regular(6, 2);
  const Layout scattered = Layout::vector(2, 1, 8, Layout::contiguous(4));
  const Neighborhood edges{{{2, 0}, {3, 0}, {4, 0}, {2, 1}, {3, 1}, {1, 0}}, {}};
  const std::vector<Block> blocks{
      {BufferId::send, 0, Layout::contiguous(8)}, {BufferId::send, 0, Layout::contiguous(8)},
      {BufferId::send, 0, Layout::contiguous(8)}, {BufferId::send, 0, scattered},
      {BufferId::send, 8, Layout::contiguous(8)}, {BufferId::send, 0, scattered}};
  const NodeEdges found = collectives::edges_between_nodes(map, 0, edges, blocks, {});
  EXPECT_THAT(found.outgoing, ElementsAre(NodeEdge{0, 2, 0, 0, 8}, NodeEdge{0, 3, 0, 0, 8}, NodeEdge{0, 4, 0, 0, 8},
                                          NodeEdge{0, 2, 1, 1, 8}, NodeEdge{0, 3, 1, 2, 8}));
  EXPECT_THAT(found.incoming, IsEmpty());
}

TEST(NodeAgreement, HasOneMessageBetweenNodesInWhichEachValueStandsOnce) {
  const auto map = core::NodeMap::regular(12, 4);
  for (const bool one_value : {false, true}) {
    const std::vector<Part> parts = parts_of(all_to_other_nodes(map), 8, one_value);
    const std::vector<NodeRoutes> direct(12);
    EXPECT_EQ(between_nodes(map, parts, direct).messages, 12u * 8);
    const Between sent = between_nodes(map, parts, agree(map, parts, always));
    EXPECT_EQ(sent.messages, 3u * 2);
    EXPECT_EQ(sent.bytes, 3u * 2 * (one_value ? 4 : 16) * 8);
    EXPECT_THAT(sent.sent_by, Each(Le(1u)));
  }
}

TEST(NodeAgreement, SaysTheSameToAllRanksOfAPair) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const int ranks = 2 + static_cast<int>(seed % 9);
    std::vector<int> nodes;
    for (Rank rank = 0; rank < ranks; ++rank)
      nodes.push_back(static_cast<int>(hash(seed * 100 + static_cast<unsigned>(rank)) % 3));
    const core::NodeMap map = core::NodeMap::of(nodes);
    const auto some = [&](const NodePair& pair, std::uint64_t /*network*/) {
      return (static_cast<unsigned>(pair.from + pair.to) + seed) % 2 == 0;
    };
    const std::vector<Part> parts = parts_of(random_distributed_graph(ranks, seed), 8, false);
    const std::vector<NodeRoutes> routes = agree(map, parts, some);
    for (Rank self = 0; self < ranks; ++self) {
      const Part& part = parts[static_cast<std::size_t>(self)];
      const NodeRoutes& its = routes[static_cast<std::size_t>(self)];
      const int node = map.node_of(self);
      const auto compare = [&](const std::vector<Edge>& edges, const std::set<int>& by_node, bool out) {
        for (const Edge& edge : edges) {
          const int other = map.node_of(edge.peer);
          if (other == node) continue;
          EXPECT_EQ(by_node.contains(other), some(out ? NodePair{node, other, {}} : NodePair{other, node, {}}, 0));
        }
      };
      compare(part.edges.destinations, its.to, true);
      compare(part.edges.sources, its.from, false);
    }
  }
}

TEST(NodeAgreement, DecidesByTheSendersNetwork) {
  const auto map = core::NodeMap::regular(4, 2);
  const std::vector<Part> parts = parts_of(all_to_other_nodes(map), 8, false);
  const std::vector<NodeRoutes> routes =
      agree(map, parts, [](const NodePair& /*pair*/, std::uint64_t network) { return network == 1; });
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_THAT(routes[rank].to, ElementsAre(1));
    EXPECT_THAT(routes[rank].from, IsEmpty());
    EXPECT_THAT(routes[rank + 2].from, ElementsAre(0));
    EXPECT_THAT(routes[rank + 2].to, IsEmpty());
  }
}

TEST(NodeAgreement, LeavesPairsAloneWhoseEndsDisagree) {
  const auto map = core::NodeMap::regular(6, 2);
  std::vector<Part> parts = parts_of(all_to_other_nodes(map), 8, false);
  parts[2].incoming[0].layout = Layout::contiguous(4);  // of what rank 0 sends
  const std::vector<NodeRoutes> routes = agree(map, parts, always);
  EXPECT_THAT(routes[0].to, ElementsAre(2));
  EXPECT_THAT(routes[1].to, ElementsAre(2));
  EXPECT_THAT(routes[2].from, ElementsAre(2));
  EXPECT_THAT(routes[3].from, ElementsAre(2));
  EXPECT_THAT(routes[2].to, ElementsAre(0, 2));
  EXPECT_THAT(routes[4].from, ElementsAre(0, 1));
}

TEST(NodeAgreement, LeavesARankAloneWhoseEdgesNeedTheSlotsOfCarriers) {
  const auto map = core::NodeMap::regular(4, 2);
  std::vector<Part> parts = parts_of(all_to_other_nodes(map), 8, false);
  parts[0].edges.destinations.push_back({1, collectives::kCarrierSlots});
  parts[0].outgoing.push_back(block_at(BufferId::send, 100, 8));
  const std::vector<NodeRoutes> routes = agree(map, parts, always);
  EXPECT_THAT(routes[1].to, IsEmpty());
  EXPECT_THAT(routes[1].from, ElementsAre(1));
}

TEST(NodeAgreement, BringsNothingByCarriersWhereARankOfTheNodeHasTakenTheirSlots) {
  const auto map = core::NodeMap::regular(4, 2);
  std::vector<Part> parts = parts_of(all_to_other_nodes(map), 8, false);
  parts[0].edges.sources.push_back({1, collectives::kCarrierSlots});
  parts[0].incoming.push_back(block_at(BufferId::recv, 100, 8));
  const std::vector<NodeRoutes> routes = agree(map, parts, always);
  EXPECT_THAT(routes[0].from, IsEmpty());
  EXPECT_THAT(routes[0].to, ElementsAre(1));
}

TEST(NodeAgreement, TellsWhichMessageBringsABlock) {
  const auto map = core::NodeMap::regular(4, 2);
  const std::vector<Part> parts = parts_of(all_to_other_nodes(map), 8, false);
  const std::vector<NodeRoutes> routes = agree(map, parts, always);
  const std::vector<Edge> edges = collectives::arriving_edges(map, routes[0], parts[0].edges.sources, 0);
  EXPECT_EQ(edges,
            std::vector<Edge>(2, Edge{collectives::receiving_carrier(map, 1, 0), collectives::kCarrierSlots + 2}));
  const std::vector<Edge> direct = collectives::arriving_edges(map, {}, parts[0].edges.sources, 0);
  EXPECT_EQ(direct, parts[0].edges.sources);
}

NodePair pair_of(int sources, int destinations, std::uint64_t bytes, bool one_value) {
  NodePair pair{0, 1, {}};
  for (Rank source = 0; source < sources; ++source)
    for (Rank destination = 0; destination < destinations; ++destination)
      pair.edges.push_back(
          {source, 100 + destination, 0, one_value ? 0 : static_cast<std::uint32_t>(destination), bytes});
  return pair;
}

TEST(NodeCost, CountsMessagesAndValues) {
  const collectives::PairTraffic traffic = collectives::traffic_of(pair_of(3, 4, 10, true));
  EXPECT_EQ(traffic.messages, 12u);
  EXPECT_EQ(traffic.bytes, 120u);
  EXPECT_EQ(traffic.value_bytes, 30u);
  EXPECT_EQ(traffic.sources, 3u);
  EXPECT_EQ(traffic.destinations, 4u);
}

TEST(NodeCost, FindsThatManyShortMessagesPayAndFewOrLongOnesDoNot) {
  for (const auto network : {collectives::NodeNetwork::kernel, collectives::NodeNetwork::card}) {
    const auto pays = [&](const NodePair& pair) {
      return collectives::cost_of(collectives::traffic_of(pair), collectives::figures_of(network)).by_node_pays();
    };
    EXPECT_TRUE(pays(pair_of(4, 4, 8, false)));
    EXPECT_FALSE(pays(pair_of(1, 1, 8, false)));
    EXPECT_FALSE(pays(pair_of(2, 1, 1 << 20, false)));
  }
}

}  // namespace
}  // namespace fab::test
