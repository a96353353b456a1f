// Cartesian topologies against an oracle that knows nothing of ranks' arithmetic: it walks the grid cell by cell.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fab/topology.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

constexpr Dimension kFirst{0};

using test::expect_error;
using Cell = std::vector<int>;

/// The grid as a table: rank -> cell and back, filled by counting like an odometer.
class Oracle {
 public:
  Oracle(std::vector<int> dims, std::vector<bool> periodic) : dims_(std::move(dims)), periodic_(std::move(periodic)) {
    Cell cell(dims_.size(), 0);
    do {
      ranks_[cell] = static_cast<Rank>(cells_.size());
      cells_.push_back(cell);
    } while (advance(cell));
  }

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }

  /// One step from a rank; nothing beyond an open border.
  [[nodiscard]] std::optional<Rank> step(Rank from, std::size_t dimension, int sign) const {
    Cell cell = cells_[static_cast<std::size_t>(from)];
    cell[dimension] += sign;
    if (cell[dimension] == dims_[dimension] || cell[dimension] == -1) {
      if (!periodic_[dimension]) return std::nullopt;
      cell[dimension] = sign > 0 ? 0 : dims_[dimension] - 1;
    }
    return ranks_.at(cell);
  }

  /// Many steps, one after another.
  [[nodiscard]] std::optional<Rank> walk(Rank from, std::size_t dimension, int steps) const {
    std::optional<Rank> at = from;
    for (int i = 0; i < std::abs(steps) && at; ++i) at = step(*at, dimension, steps > 0 ? 1 : -1);
    return at;
  }

  /// The neighbours in the order of Comm_neighbors, each with the direction that leads there.
  struct Direction {
    std::size_t dimension;
    int sign;
    Rank peer;
  };
  [[nodiscard]] std::vector<Direction> neighbors(Rank rank) const {
    std::vector<Direction> result;
    for (std::size_t dimension = 0; dimension < dims_.size(); ++dimension) {
      for (const int sign : {+1, -1}) {
        if (const auto peer = step(rank, dimension, sign)) result.push_back({dimension, sign, *peer});
      }
    }
    return result;
  }

 private:
  bool advance(Cell& cell) const {
    for (std::size_t d = cell.size(); d-- > 0;) {
      if (++cell[d] < dims_[d]) return true;
      cell[d] = 0;
    }
    return false;
  }

  std::vector<int> dims_;
  std::vector<bool> periodic_;
  std::vector<Cell> cells_;
  std::map<Cell, Rank> ranks_;
};

/// All grids with the given number of dimensions, extents from 1 and every periodic mask.
template <class Check>
void for_each_grid(std::size_t dimensions, int largest_extent, Check check) {
  std::vector<int> dims(dimensions, 1);
  const auto next = [&dims, largest_extent] {
    for (int& extent : dims) {
      if (++extent <= largest_extent) return true;
      extent = 1;
    }
    return false;
  };
  do {
    for (unsigned mask = 0; mask < (1U << dimensions); ++mask) {
      std::vector<bool> periodic;
      for (std::size_t d = 0; d < dimensions; ++d) periodic.push_back((mask >> d & 1U) != 0);
      const Cartesian cartesian(dims, periodic);
      SCOPED_TRACE(to_string(Topology(cartesian)));
      check(cartesian, Oracle(dims, periodic));
      if (testing::Test::HasFatalFailure()) return;
    }
  } while (next());
}

void check_coordinates(const Cartesian& cartesian, const Oracle& oracle) {
  ASSERT_EQ(static_cast<std::size_t>(cartesian.size()), oracle.cells().size());
  for (Rank rank = 0; rank < cartesian.size(); ++rank) {
    const Cell& cell = oracle.cells()[static_cast<std::size_t>(rank)];
    ASSERT_EQ(cartesian.coordinates(rank), cell);
    ASSERT_EQ(cartesian.rank_at(cell), rank);
  }
}

void check_order(const Cartesian& cartesian, const Oracle& oracle) {
  for (Rank rank = 0; rank < cartesian.size(); ++rank) {
    const Neighborhood edges = cartesian.neighborhood(rank);
    const auto expected = oracle.neighbors(rank);
    ASSERT_EQ(edges.destinations.size(), expected.size());
    ASSERT_EQ(edges.sources.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(edges.destinations[i].peer, expected[i].peer);
      ASSERT_EQ(edges.sources[i].peer, expected[i].peer);
    }
  }
}

/// Sends every block along its edge, by (from, to, slot) alone, and looks where it comes out.
void check_pairing(const Cartesian& cartesian, const Oracle& oracle) {
  using Key = std::tuple<Rank, Rank, std::uint32_t>;
  std::map<Key, std::size_t> in_flight;
  for (Rank rank = 0; rank < cartesian.size(); ++rank) {
    const auto destinations = cartesian.neighborhood(rank).destinations;
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      ASSERT_TRUE(in_flight.emplace(Key{rank, destinations[i].peer, destinations[i].slot}, i).second);
    }
  }
  for (Rank rank = 0; rank < cartesian.size(); ++rank) {
    const auto sources = cartesian.neighborhood(rank).sources;
    const auto here = oracle.neighbors(rank);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto block = in_flight.find({sources[i].peer, rank, sources[i].slot});
      ASSERT_NE(block, in_flight.end());
      const auto left_in = oracle.neighbors(sources[i].peer)[block->second];
      ASSERT_EQ(left_in.dimension, here[i].dimension);
      ASSERT_EQ(left_in.sign, -here[i].sign);
      in_flight.erase(block);
    }
  }
  ASSERT_TRUE(in_flight.empty());
}

void check_shifts(const Cartesian& cartesian, const Oracle& oracle) {
  for (Rank rank = 0; rank < cartesian.size(); ++rank) {
    for (int dimension = 0; dimension < cartesian.dimensions(); ++dimension) {
      for (int displacement = -7; displacement <= 7; ++displacement) {
        const auto [source, destination] = cartesian.shift(rank, Dimension{dimension}, displacement);
        const auto d = static_cast<std::size_t>(dimension);
        ASSERT_EQ(destination, oracle.walk(rank, d, displacement)) << displacement;
        ASSERT_EQ(source, oracle.walk(rank, d, -displacement)) << displacement;
      }
    }
  }
}

TEST(CartesianTest, AgreesWithOracleInUpToFourDimensions) {
  for (std::size_t dimensions = 0; dimensions <= 4; ++dimensions) {
    for_each_grid(dimensions, dimensions < 4 ? 3 : 2, [](const Cartesian& cartesian, const Oracle& oracle) {
      check_coordinates(cartesian, oracle);
      check_order(cartesian, oracle);
      check_pairing(cartesian, oracle);
      check_shifts(cartesian, oracle);
    });
  }
}

TEST(CartesianTest, NoDimensionsAreOneRankAlone) {
  const Cartesian point({}, {});
  EXPECT_EQ(point.size(), 1);
  EXPECT_TRUE(point.coordinates(0).empty());
  EXPECT_EQ(point.rank_at({}), 0);
  EXPECT_EQ(point.neighborhood(0), Neighborhood{});
}

TEST(CartesianTest, PeriodicPairHasEachOtherTwice) {
  const Neighborhood edges = Cartesian({2}, {true}).neighborhood(0);
  EXPECT_EQ(edges.destinations, (std::vector<Edge>{{1, 0}, {1, 1}}));
  EXPECT_EQ(edges.sources, (std::vector<Edge>{{1, 1}, {1, 0}}));
}

TEST(CartesianTest, PeriodicSingleIsItsOwnNeighborTwice) {
  const Neighborhood edges = Cartesian({1}, {true}).neighborhood(0);
  EXPECT_EQ(edges.destinations, (std::vector<Edge>{{0, 0}, {0, 1}}));
  EXPECT_EQ(edges.sources, (std::vector<Edge>{{0, 1}, {0, 0}}));
}

TEST(CartesianTest, SlotsAreDirectionsAlsoAtBorders) {
  const Neighborhood corner = Cartesian({3, 3}, {false, false}).neighborhood(8);
  EXPECT_EQ(corner.destinations, (std::vector<Edge>{{5, 1}, {7, 3}}));
  EXPECT_EQ(corner.sources, (std::vector<Edge>{{5, 0}, {7, 2}}));
}

TEST(CartesianTest, CoordinatesOfPeriodicDimensionsWrap) {
  const Cartesian grid({3, 4}, {true, false});
  EXPECT_EQ(grid.rank_at(std::vector{-1, 2}), grid.rank_at(std::vector{2, 2}));
  EXPECT_EQ(grid.rank_at(std::vector{7, 0}), grid.rank_at(std::vector{1, 0}));
  EXPECT_EQ(grid.rank_at(std::vector{std::numeric_limits<int>::min(), 0}), 4);  // -2^31 = 1 modulo 3
}

TEST(CartesianTest, ShiftTakesAnyInteger) {
  constexpr int kMin = std::numeric_limits<int>::min();
  constexpr int kMax = std::numeric_limits<int>::max();
  const Cartesian open({5}, {false});
  const Cartesian ring({5}, {true});
  for (const int displacement : {kMin, kMin + 1, kMax, kMax - 1, 5, -5}) {
    EXPECT_EQ(open.shift(2, kFirst, displacement).source, std::nullopt);
    EXPECT_EQ(open.shift(2, kFirst, displacement).destination, std::nullopt);
  }
  EXPECT_EQ(ring.shift(2, kFirst, kMin).destination, 4);  // -2^31 = 2 modulo 5
  EXPECT_EQ(ring.shift(2, kFirst, kMin).source, 0);
  EXPECT_EQ(ring.shift(2, kFirst, kMax).destination, 4);  // 2^31 - 1 = 2 modulo 5
  EXPECT_EQ(ring.shift(2, kFirst, kMax).source, 0);
  EXPECT_EQ(open.shift(2, kFirst, 0).source, 2);
  EXPECT_EQ(open.shift(2, kFirst, 0).destination, 2);
  EXPECT_EQ(Cartesian({1}, {true}).shift(0, kFirst, kMin).source, 0);
}

TEST(CartesianTest, LargestGridIsAccepted) {
  const Cartesian line({std::numeric_limits<int>::max()}, {true});
  EXPECT_EQ(line.size(), std::numeric_limits<int>::max());
  EXPECT_EQ(line.shift(line.size() - 1, kFirst, 1).destination, 0);
  EXPECT_EQ(line.shift(line.size() - 1, kFirst, std::numeric_limits<int>::max()).destination, line.size() - 1);
}

TEST(CartesianErrorTest, Construction) {
  expect_error(Errc::invalid_topology, {"Cartesian", "periodic has 1", "dims has 2"}, [] {
    Cartesian({2, 2}, {true});
  });
  expect_error(Errc::invalid_topology, {"Cartesian", "dims[1] is 0", "1 or more"}, [] {
    Cartesian({2, 0}, {true, true});
  });
  expect_error(Errc::invalid_topology, {"dims[0] is -3"}, [] { Cartesian({-3}, {true}); });
  expect_error(Errc::invalid_topology, {"dims[0] to dims[1]", "2147483648", "2147483647"}, [] {
    Cartesian({65536, 32768, 0}, {true, true, true});
  });
  expect_error(Errc::invalid_topology, {"multiply"}, [] {
    constexpr int kMax = std::numeric_limits<int>::max();
    Cartesian({kMax, kMax, kMax}, {true, true, true});
  });
}

TEST(CartesianErrorTest, Ranks) {
  const Cartesian grid({2, 3}, {false, true});
  for (const Rank rank : {-1, 6}) {
    const std::string value = "rank is " + std::to_string(rank);
    expect_error(Errc::invalid_rank, {"Cartesian::coordinates", value.c_str(), "6"},
                 [&] { (void)grid.coordinates(rank); });
    expect_error(Errc::invalid_rank, {"Cartesian::shift", value.c_str()}, [&] { (void)grid.shift(rank, kFirst, 1); });
    expect_error(Errc::invalid_rank, {"Cartesian::neighborhood", value.c_str()},
                 [&] { (void)grid.neighborhood(rank); });
  }
}

TEST(CartesianErrorTest, Dimensions) {
  const Cartesian grid({2, 3}, {false, true});
  for (const int dimension : {-1, 2}) {
    const std::string value = "dimension is " + std::to_string(dimension);
    expect_error(Errc::invalid_argument, {"Cartesian::shift", value.c_str(), "2 dimension"},
                 [&] { (void)grid.shift(0, Dimension{dimension}, 1); });
    expect_error(Errc::invalid_argument, {"Cartesian::periodic", value.c_str()},
                 [&] { (void)grid.periodic(Dimension{dimension}); });
  }
  expect_error(Errc::invalid_argument, {"0 dimension"}, [] { (void)Cartesian({}, {}).shift(0, kFirst, 1); });
}

TEST(CartesianErrorTest, Coordinates) {
  const Cartesian grid({2, 3}, {false, true});
  expect_error(Errc::invalid_argument, {"Cartesian::rank_at", "1 coordinate", "2 dimension"},
               [&] { (void)grid.rank_at(std::vector{0}); });
  expect_error(Errc::invalid_argument, {"Cartesian::rank_at", "coordinates[0] is 2", "0 to 1"}, [&] {
    (void)grid.rank_at(std::vector{2, 0});
  });
  expect_error(Errc::invalid_argument, {"coordinates[0] is -1"}, [&] { (void)grid.rank_at(std::vector{-1, 0}); });
}

}  // namespace
}  // namespace fab
