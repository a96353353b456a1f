// Graphs and distributed graphs: order, pairing by order of appearance, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "fab/topology.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::expect_error;
using Lists = std::vector<std::vector<Rank>>;

int pick(std::mt19937& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

/// Position of the k-th `peer` in a list.
std::size_t kth(const std::vector<Rank>& list, Rank peer, std::size_t k) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == peer && k-- == 0) return i;
  }
  return list.size();
}

/// Delivers every block by (from, to, slot) and compares with the pairing of the k-th entries.
void check_pairing(const Lists& destinations, const Lists& sources, const std::vector<Neighborhood>& edges) {
  using Key = std::tuple<Rank, Rank, std::uint32_t>;
  std::map<Key, std::size_t> receivers;
  for (std::size_t rank = 0; rank < edges.size(); ++rank) {
    for (std::size_t i = 0; i < edges[rank].sources.size(); ++i) {
      const Edge& edge = edges[rank].sources[i];
      ASSERT_EQ(edge.peer, sources[rank][i]);
      ASSERT_TRUE(receivers.emplace(Key{edge.peer, static_cast<Rank>(rank), edge.slot}, i).second);
    }
  }
  for (std::size_t rank = 0; rank < edges.size(); ++rank) {
    const auto from = static_cast<Rank>(rank);
    std::map<Rank, std::size_t> sent;
    for (std::size_t i = 0; i < edges[rank].destinations.size(); ++i) {
      const Edge& edge = edges[rank].destinations[i];
      ASSERT_EQ(edge.peer, destinations[rank][i]);
      const auto met = receivers.find({from, edge.peer, edge.slot});
      ASSERT_NE(met, receivers.end());
      ASSERT_EQ(met->second, kth(sources[static_cast<std::size_t>(edge.peer)], from, sent[edge.peer]++));
      receivers.erase(met);
    }
  }
  ASSERT_TRUE(receivers.empty());
}

Graph make_graph(const Lists& lists) {
  std::vector<int> index, edges;
  for (const auto& list : lists) {
    edges.insert(edges.end(), list.begin(), list.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  return {index, edges};
}

TEST(GraphTest, RandomMultigraphsPairKthEntries) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    Lists lists(static_cast<std::size_t>(pick(random, 1, 9)));
    const int last = static_cast<int>(lists.size()) - 1;
    for (int edge = pick(random, 0, 30); edge > 0; --edge) {
      const Rank a = pick(random, 0, last);
      const Rank b = pick(random, 0, last);
      lists[static_cast<std::size_t>(a)].push_back(b);
      if (a != b) lists[static_cast<std::size_t>(b)].push_back(a);
    }
    for (auto& list : lists) std::shuffle(list.begin(), list.end(), random);
    const Graph graph = make_graph(lists);
    std::vector<Neighborhood> edges;
    for (Rank rank = 0; rank <= last; ++rank) {
      const auto neighbors = graph.neighbors(rank);
      ASSERT_TRUE(std::equal(neighbors.begin(), neighbors.end(), lists[static_cast<std::size_t>(rank)].begin(),
                             lists[static_cast<std::size_t>(rank)].end()));
      edges.push_back(graph.neighborhood(rank));
    }
    check_pairing(lists, lists, edges);
    if (HasFatalFailure()) return;
  }
}

TEST(DistributedGraphTest, RandomMultigraphsPairKthEntries) {
  std::mt19937 random(12);
  for (int round = 0; round < 500; ++round) {
    const auto ranks = static_cast<std::size_t>(pick(random, 1, 9));
    Lists destinations(ranks), sources(ranks);
    for (int edge = pick(random, 0, 40); edge > 0; --edge) {
      const Rank from = pick(random, 0, static_cast<int>(ranks) - 1);
      const Rank to = pick(random, 0, static_cast<int>(ranks) - 1);
      destinations[static_cast<std::size_t>(from)].push_back(to);
      sources[static_cast<std::size_t>(to)].push_back(from);
    }
    std::vector<Neighborhood> edges;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::shuffle(destinations[rank].begin(), destinations[rank].end(), random);
      std::shuffle(sources[rank].begin(), sources[rank].end(), random);
      edges.push_back(DistributedGraph(sources[rank], destinations[rank]).neighborhood());
    }
    check_pairing(destinations, sources, edges);
    if (HasFatalFailure()) return;
  }
}

TEST(GraphTest, SlotIsOrdinalAmongEqualPeers) {
  const Graph graph({4, 8}, {1, 0, 1, 1, 0, 1, 0, 0});
  const std::vector<Edge> expected{{1, 0}, {0, 0}, {1, 1}, {1, 2}};
  EXPECT_EQ(graph.neighborhood(0).destinations, expected);
  EXPECT_EQ(graph.neighborhood(0).sources, expected);
}

TEST(GraphTest, RanksWithoutNeighbors) {
  const Graph graph({0, 0}, {});
  EXPECT_EQ(graph.size(), 2);
  EXPECT_TRUE(graph.neighbors(1).empty());
  EXPECT_EQ(graph.neighborhood(1), Neighborhood{});
}

TEST(DistributedGraphTest, ListsMayDiffer) {
  const DistributedGraph graph({2, 2}, {5});
  EXPECT_EQ(graph.neighborhood().sources, (std::vector<Edge>{{2, 0}, {2, 1}}));
  EXPECT_EQ(graph.neighborhood().destinations, (std::vector<Edge>{{5, 0}}));
}

TEST(GraphErrorTest, Index) {
  expect_error(Errc::invalid_topology, {"Graph", "index[1] is 1", "below 2"}, [] { Graph({2, 1}, {0, 1}); });
  expect_error(Errc::invalid_topology, {"index[0] is -1"}, [] { Graph({-1}, {}); });
}

TEST(GraphErrorTest, Edges) {
  expect_error(Errc::invalid_topology, {"Graph", "edges has 1", "asks for 2"}, [] { Graph({1, 2}, {1}); });
  expect_error(Errc::invalid_topology, {"edges has 3"}, [] { Graph({1, 2}, {1, 0, 0}); });
  expect_error(Errc::invalid_topology, {"edges[1] is 2", "below 2"}, [] { Graph({1, 2}, {1, 2}); });
  expect_error(Errc::invalid_topology, {"edges[0] is -1"}, [] { Graph({1, 2}, {-1, 0}); });
}

TEST(GraphErrorTest, BothEndsMustListAnEdgeEquallyOften) {
  expect_error(Errc::invalid_topology, {"rank 0 lists rank 1 1 time", "rank 1 lists rank 0 0 time"}, [] {
    Graph({1, 1}, {1});
  });
  expect_error(Errc::invalid_topology, {"rank 0 lists rank 1 2 time", "rank 1 lists rank 0 1 time"}, [] {
    Graph({2, 3}, {1, 1, 0});
  });
  expect_error(Errc::invalid_topology, {"rank 1 lists rank 0 1 time", "rank 0 lists rank 1 0 time"}, [] {
    Graph({0, 1}, {0});
  });
}

TEST(GraphErrorTest, Ranks) {
  const Graph graph({1, 2}, {1, 0});
  for (const Rank rank : {-1, 2}) {
    const std::string value = "rank is " + std::to_string(rank);
    expect_error(Errc::invalid_rank, {"Graph::neighbors", value.c_str(), "2"}, [&] { (void)graph.neighbors(rank); });
    expect_error(Errc::invalid_rank, {value.c_str()}, [&] { (void)graph.neighborhood(rank); });
  }
}

TEST(DistributedGraphErrorTest, NegativeRanks) {
  expect_error(Errc::invalid_topology, {"DistributedGraph", "sources[1] is -2"}, [] { DistributedGraph({0, -2}, {}); });
  expect_error(Errc::invalid_topology, {"DistributedGraph", "destinations[0] is -1"},
               [] { DistributedGraph({}, {-1}); });
}

}  // namespace
}  // namespace fab
