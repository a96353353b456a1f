// Mappings that know nothing of nodes, and the measures.
#include "fab/mapping.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab {
namespace {

using test::expect_error;
using testing::ElementsAre;

Cartesian open_grid(std::vector<int> dims) {
  const std::size_t dimensions = dims.size();
  return {std::move(dims), std::vector<bool>(dimensions, false)};
}
Cartesian torus(std::vector<int> dims) {
  const std::size_t dimensions = dims.size();
  return {std::move(dims), std::vector<bool>(dimensions, true)};
}

/// Where each rank is.
std::vector<std::vector<int>> coordinates_by_rank(const Cartesian& grid, const Mapping& mapping) {
  std::vector<std::vector<int>> result(static_cast<std::size_t>(grid.size()));
  for (int place = 0; place < grid.size(); ++place)
    result[static_cast<std::size_t>(mapping.ranks()[static_cast<std::size_t>(place)])] = grid.coordinates(place);
  return result;
}

/// Bit by bit: the highest bits of all coordinates, then the next ones, the first dimension's ahead.
std::vector<int> interleaved(const std::vector<int>& coordinates) {
  std::vector<int> bits;
  for (int bit = 30; bit >= 0; --bit)
    for (const int coordinate : coordinates) bits.push_back(coordinate >> bit & 1);
  return bits;
}

const std::vector<std::vector<int>> kGrids = {{},     {1},        {2},       {7},       {8},         {1, 5},
                                              {4, 4}, {3, 5},     {5, 3},    {8, 2},    {2, 8},      {6, 6},
                                              {1, 1}, {2, 2, 2},  {3, 4, 5}, {4, 4, 4}, {5, 1, 3},   {2, 3, 2, 3},
                                              {9, 9}, {16, 3, 2}, {13, 11},  {31, 2},   {2, 2, 2, 2}};

TEST(Mapping, RefusesWhatIsNoBijection) {
  EXPECT_EQ(Mapping({2, 0, 1}).size(), 3);
  expect_error(Errc::invalid_argument, {"Mapping", "ranks[1] is 3", "below 3"}, [] { (void)Mapping({0, 3, 1}); });
  expect_error(Errc::invalid_argument, {"ranks[0] is -1"}, [] { (void)Mapping({-1, 0}); });
  expect_error(Errc::invalid_argument, {"ranks[2] is 0", "another place"}, [] { (void)Mapping({0, 1, 0}); });
}

TEST(Mapping, KnowsTheIdentity) {
  EXPECT_TRUE(Mapping({}).is_identity());
  EXPECT_TRUE(Mapping({0, 1, 2}).is_identity());
  EXPECT_FALSE(Mapping({0, 2, 1}).is_identity());
}

TEST(RowMajor, IsTheNumberingOfTheGrid) {
  for (const std::vector<int>& dims : kGrids) EXPECT_TRUE(Mapping::row_major(open_grid(dims)).is_identity());
}

TEST(ColumnMajor, RunsAlongTheFirstDimension) {
  EXPECT_THAT(Mapping::column_major(open_grid({2, 3})).ranks(), ElementsAre(0, 2, 4, 1, 3, 5));
  for (const std::vector<int>& dims : kGrids) {
    auto by_rank = coordinates_by_rank(open_grid(dims), Mapping::column_major(open_grid(dims)));
    for (std::vector<int>& coordinates : by_rank) std::reverse(coordinates.begin(), coordinates.end());
    EXPECT_TRUE(std::is_sorted(by_rank.begin(), by_rank.end()));
  }
}

TEST(Morton, OrdersByInterleavedBits) {
  EXPECT_THAT(Mapping::morton(open_grid({2, 4})).ranks(), ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  for (const std::vector<int>& dims : kGrids) {
    std::vector<std::vector<int>> keys;
    for (const auto& coordinates : coordinates_by_rank(open_grid(dims), Mapping::morton(open_grid(dims))))
      keys.push_back(interleaved(coordinates));
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end())) << testing::PrintToString(dims);
  }
}

int distance(const std::vector<int>& a, const std::vector<int>& b) {
  int sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += std::abs(a[d] - b[d]);
  return sum;
}

TEST(Hilbert, StepsToNeighboursInCubes) {
  for (const auto& [dimensions, edge] :
       {std::pair{1, 16}, {2, 2}, {2, 4}, {2, 32}, {3, 2}, {3, 4}, {3, 16}, {4, 2}, {4, 8}, {5, 4}, {6, 2}, {10, 2}}) {
    const Cartesian cube = open_grid(std::vector<int>(static_cast<std::size_t>(dimensions), edge));
    const auto by_rank = coordinates_by_rank(cube, Mapping::hilbert(cube));
    for (std::size_t rank = 1; rank < by_rank.size(); ++rank)
      ASSERT_EQ(distance(by_rank[rank - 1], by_rank[rank]), 1) << to_string(Topology(cube)) << ", rank " << rank;
  }
}

TEST(Hilbert, VisitsEachPartOfACubeAsAWhole) {
  const Cartesian cube = open_grid({8, 8, 8});
  const auto by_rank = coordinates_by_rank(cube, Mapping::hilbert(cube));
  for (const int edge : {2, 4}) {
    const auto part_ranks = static_cast<std::size_t>(edge * edge * edge);
    for (std::size_t first = 0; first < by_rank.size(); first += part_ranks) {
      std::set<std::vector<int>> parts;
      for (std::size_t rank = first; rank < first + part_ranks; ++rank) {
        std::vector<int> part = by_rank[rank];
        for (int& coordinate : part) coordinate /= edge;
        parts.insert(part);
      }
      EXPECT_EQ(parts.size(), 1u) << "ranks from " << first << ", parts of edge " << edge;
    }
  }
}

TEST(Hilbert, LeavesOutWhatLiesOutsideTheGrid) {
  for (const std::vector<int>& dims : kGrids) {
    std::vector<int> edges;  // of the cube; dimensions of one place take no part
    int edge = 1;
    for (const int extent : dims)
      while (edge < extent) edge *= 2;
    for (const int extent : dims) edges.push_back(extent == 1 ? 1 : edge);
    std::vector<std::vector<int>> expected;
    for (const auto& coordinates : coordinates_by_rank(open_grid(edges), Mapping::hilbert(open_grid(edges)))) {
      bool inside = true;
      for (std::size_t d = 0; d < dims.size(); ++d) inside = inside && coordinates[d] < dims[d];
      if (inside) expected.push_back(coordinates);
    }
    EXPECT_EQ(coordinates_by_rank(open_grid(dims), Mapping::hilbert(open_grid(dims))), expected);
  }
}

TEST(GrayCode, NeighboursAreNeighboursInTheHypercube) {
  for (const std::vector<int>& dims : {std::vector<int>{}, {1}, {2}, {16}, {4, 4}, {8, 2, 1, 4}, {2, 2, 2, 2, 2}}) {
    const Traffic traffic = Traffic::of(torus(dims));
    const int longest = dilation(traffic, Mapping::gray_code(torus(dims)), hypercube_hops);
    EXPECT_EQ(longest, traffic.places() == 1 ? 0 : 1) << testing::PrintToString(dims);
  }
  EXPECT_EQ(dilation(Traffic::of(torus({16})), Mapping::row_major(torus({16})), hypercube_hops), 4);
}

TEST(GrayCode, NeedsPowersOfTwo) {
  expect_error(Errc::invalid_topology, {"gray_code", "dims[1] is 6", "powers of two"}, [] {
    (void)Mapping::gray_code(torus({4, 6}));
  });
}

TEST(Traffic, OfAGridIsThatOfItsNeighbourhoods) {
  for (const std::vector<int>& dims : kGrids)
    for (const bool periodic : {false, true}) {
      const Cartesian grid = periodic ? torus(dims) : open_grid(dims);
      std::vector<std::int64_t> weights(dims.size());
      std::iota(weights.begin(), weights.end(), 5);
      const Traffic traffic = Traffic::of(grid, weights);
      for (int place = 0; place < grid.size(); ++place) {
        std::vector<std::pair<int, std::int64_t>> expected;
        for (const Edge& edge : grid.neighborhood(place).destinations)
          expected.emplace_back(edge.peer, weights[edge.slot / 2]);
        std::vector<std::pair<int, std::int64_t>> found;
        for (std::size_t i = 0; i < traffic.targets(place).size(); ++i)
          found.emplace_back(traffic.targets(place)[i], traffic.weight(place, i));
        EXPECT_EQ(found, expected) << to_string(Topology(grid)) << ", place " << place;
      }
    }
}

TEST(Traffic, BecomesSymmetric) {
  // 0 sends to 1 twice and to itself, 1 answers once; 2 to 0 only.
  const Traffic traffic = Traffic({3, 4, 5}, {1, 0, 1, 0, 0}, {1, 10, 100, 1000, 7}).symmetric();
  ASSERT_EQ(traffic.places(), 3);
  EXPECT_THAT(traffic.targets(0), ElementsAre(1, 2));
  EXPECT_THAT(traffic.targets(1), ElementsAre(0));
  EXPECT_THAT(traffic.targets(2), ElementsAre(0));
  EXPECT_EQ(traffic.weight(0, 0), 1101);
  EXPECT_EQ(traffic.weight(1, 0), 1101);
  EXPECT_EQ(traffic.weight(0, 1), 7);
}

TEST(Traffic, RefusesWhatDoesNotFit) {
  expect_error(Errc::invalid_argument, {"ends[1] is 0", "below 1"}, [] { (void)Traffic({1, 0}, {0}); });
  expect_error(Errc::invalid_argument, {"there are 2 targets", "ask for 1"}, [] { (void)Traffic({1}, {0, 0}); });
  expect_error(Errc::invalid_argument, {"targets[0] is 1"}, [] { (void)Traffic({1}, {1}); });
  expect_error(Errc::invalid_argument, {"1 weights", "2 targets"}, [] { (void)Traffic({2}, {0, 0}, {1}); });
  expect_error(Errc::invalid_argument, {"weights[0] is -3"}, [] { (void)Traffic({1}, {0}, {-3}); });
  expect_error(Errc::invalid_argument, {"1 weights", "2 dimensions"}, [] {
    (void)Traffic::of(torus({2, 2}), std::vector<std::int64_t>{1});
  });
}

TEST(Cut, CountsMessagesBetweenNodes) {
  // Two rows of four, the left half on one node: two messages each way, of weight 3 along the rows.
  const Traffic traffic = Traffic::of(open_grid({2, 4}), std::vector<std::int64_t>{2, 3});
  const std::vector<int> nodes{7, 7, 7, 7, -1, -1, -1, -1};
  const Mapping halves({0, 1, 4, 5, 2, 3, 6, 7});
  EXPECT_EQ(cut(traffic, halves, nodes), (Cut{.messages = 4, .weight = 12, .most_messages = 2, .most_weight = 6}));
  EXPECT_EQ(cut(traffic, Mapping::row_major(open_grid({2, 4})), nodes),
            (Cut{.messages = 8, .weight = 16, .most_messages = 4, .most_weight = 8}));
  EXPECT_EQ(cut(traffic, halves, std::vector<int>(8, 3)), Cut{});
  expect_error(Errc::invalid_argument, {"8 places", "2"}, [&] { (void)cut(traffic, Mapping({0, 1}), nodes); });
  expect_error(Errc::invalid_argument, {"1 entries"}, [&] { (void)cut(traffic, halves, std::vector<int>{1}); });
}

TEST(Cut, AgreesWithCountingNeighbours) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Graph graph = test::random_graph(12, seed);
    std::mt19937 random(seed);
    std::vector<Rank> ranks(12);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), random);
    std::vector<int> nodes;
    for (int i = 0; i < 12; ++i) nodes.push_back(static_cast<int>(random() % 3));
    const auto node_at = [&](int place) {
      return nodes[static_cast<std::size_t>(ranks[static_cast<std::size_t>(place)])];
    };
    std::map<int, std::int64_t> leaving;
    for (int place = 0; place < 12; ++place)
      for (const int neighbor : graph.neighbors(place))
        if (node_at(neighbor) != node_at(place)) ++leaving[node_at(place)];
    Cut expected;
    for (const auto& [node, messages] : leaving) {
      expected.messages += messages;
      expected.most_messages = std::max(expected.most_messages, messages);
    }
    expected.weight = expected.messages;
    expected.most_weight = expected.most_messages;
    EXPECT_EQ(cut(Traffic::of(graph), Mapping(ranks), nodes), expected);
  }
}

TEST(Dilation, CountsHopsOfMeshAndTorus) {
  const Traffic ring = Traffic::of(torus({8}));
  const Mapping identity = Mapping::row_major(torus({8}));
  EXPECT_EQ(dilation(ring, identity, grid_hops(open_grid({8}))), 7);
  EXPECT_EQ(dilation(ring, identity, grid_hops(torus({8}))), 1);
  // Along a mesh of two rows there and back.
  EXPECT_EQ(dilation(ring, Mapping({0, 1, 2, 3, 7, 6, 5, 4}), grid_hops(open_grid({2, 4}))), 1);
  EXPECT_EQ(dilation(ring, identity, grid_hops(open_grid({2, 4}))), 4);
  EXPECT_EQ(dilation(Traffic({0, 0}, {}), Mapping({1, 0}), grid_hops(torus({2}))), 0);
  expect_error(Errc::invalid_argument, {"dilation", "8 places"},
               [&] { (void)dilation(ring, Mapping({0}), hypercube_hops); });
}

}  // namespace
}  // namespace fab
