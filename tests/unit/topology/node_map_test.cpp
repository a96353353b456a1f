#include "core/topology/node_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace fab::core {
namespace {

/// Compares every answer with what the list of nodes says.
void expect_nodes(const NodeMap& map, const std::vector<int>& nodes) {
  std::map<int, std::vector<Rank>> ranks_of;
  std::vector<int> order;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (ranks_of[nodes[rank]].empty()) order.push_back(nodes[rank]);
    ranks_of[nodes[rank]].push_back(static_cast<Rank>(rank));
  }
  ASSERT_EQ(map.ranks(), static_cast<int>(nodes.size()));
  ASSERT_EQ(map.nodes(), static_cast<int>(order.size()));
  bool consecutive = true;
  int smallest = map.ranks();
  int largest = 0;
  for (int node = 0; node < map.nodes(); ++node) {
    const std::vector<Rank>& expected = ranks_of[order[static_cast<std::size_t>(node)]];
    EXPECT_EQ(map.ranks_of(node), expected);
    EXPECT_EQ(map.lowest(node), expected.front());
    const int size = static_cast<int>(expected.size());
    EXPECT_EQ(map.size_of(node), size);
    for (int i = 0; i < size; ++i) {
      const Rank rank = expected[static_cast<std::size_t>(i)];
      EXPECT_EQ(map.rank_of(node, i), rank);
      EXPECT_EQ(map.node_of(rank), node) << "rank " << rank;
      EXPECT_EQ(map.index_of(rank), i) << "rank " << rank;
    }
    consecutive = consecutive && expected.back() - expected.front() + 1 == size;
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  EXPECT_EQ(map.consecutive(), consecutive);
  EXPECT_EQ(map.smallest(), smallest);
  EXPECT_EQ(map.largest(), largest);
}

TEST(NodeMap, Lists) {
  for (const std::vector<int>& nodes : {std::vector<int>{7},
                                        {3, 3, 3},
                                        {0, 1, 2},
                                        {9, 9, 4, 4, -1, -1},
                                        {5, 5, 2},
                                        {5, 2, 2},
                                        {0, 0, 1, 1, 1, 2, 2},
                                        {0, 1, 0, 1, 0, 1},
                                        {1, 0, 0, 1, 2, 1, 0},
                                        {8, 8, 6, 8}})
    expect_nodes(NodeMap::of(nodes), nodes);
}

TEST(NodeMap, Regular) {
  for (const int ranks : {1, 2, 7, 8, 9, 17})
    for (const int per_node : {1, 2, 3, 8, 100}) {
      std::vector<int> nodes;
      for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / per_node);
      expect_nodes(NodeMap::regular(ranks, per_node), nodes);
      EXPECT_EQ(NodeMap::of(nodes), NodeMap::regular(ranks, per_node)) << ranks << " ranks, " << per_node;
    }
}

}  // namespace
}  // namespace fab::core
