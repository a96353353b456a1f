#include "fab/topology.h"

#include <gtest/gtest.h>

#include "unit/support/expect_error.h"

namespace fab {
namespace {

TEST(TopologyTest, NeighborhoodAsksTheKindThatIsThere) {
  const Cartesian ring({4}, {true});
  const Graph pair({1, 2}, {1, 0});
  const DistributedGraph own({3}, {1, 1});
  EXPECT_EQ(neighborhood(Topology(ring), 2), ring.neighborhood(2));
  EXPECT_EQ(neighborhood(Topology(pair), 1), pair.neighborhood(1));
  EXPECT_EQ(neighborhood(Topology(own), 0), own.neighborhood());
}

TEST(TopologyTest, NeighborhoodOfWrongRankIsRefused) {
  test::expect_error(Errc::invalid_rank, {"rank is 4"},
                     [] { (void)neighborhood(Topology(Cartesian({4}, {true})), 4); });
}

TEST(TopologyTest, ToString) {
  EXPECT_EQ(to_string(Topology(Cartesian({4, 2}, {true, false}))), "cartesian 4x2 periodic 1,0");
  EXPECT_EQ(to_string(Topology(Cartesian({}, {}))), "cartesian without dimensions");
  EXPECT_EQ(to_string(Topology(Graph({0, 0, 0}, {}))), "graph of 3 ranks");
  EXPECT_EQ(to_string(Topology(DistributedGraph({1, 2, 3}, {4, 5}))), "distributed graph, 3 in, 2 out");
}

}  // namespace
}  // namespace fab
