// Mappings that know which ranks share a node, against all placements where there are few.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "fab/mapping.h"
#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab {
namespace {

using test::expect_error;

/// The lightest cut of all placements, found by trying them. Places are given to nodes one after another.
class AllPlacements {
 public:
  AllPlacements(const Traffic& traffic, const std::vector<int>& nodes) : traffic_(traffic.symmetric()) {
    std::map<int, int> sizes;
    for (const int node : nodes) ++sizes[node];
    for (const auto& [node, size] : sizes) sizes_.push_back(size);
    left_ = sizes_;
    extend(0);
  }

  [[nodiscard]] std::int64_t least_weight() const { return least_; }

 private:
  void extend(std::int64_t weight) {
    if (weight >= least_) return;
    if (static_cast<int>(node_of_.size()) == traffic_.places()) {
      least_ = weight;
      return;
    }
    for (std::size_t node = 0; node < sizes_.size(); ++node) {
      if (left_[node] == 0 || has_twin_before(node)) continue;
      const std::int64_t more = weight_to_others(static_cast<int>(node));
      --left_[node];
      node_of_.push_back(static_cast<int>(node));
      extend(weight + more);
      node_of_.pop_back();
      ++left_[node];
    }
  }
  /// An unused node of the same size gives the same placements.
  [[nodiscard]] bool has_twin_before(std::size_t node) const {
    for (std::size_t other = 0; other < node; ++other)
      if (sizes_[other] == sizes_[node] && left_[other] == sizes_[other] && left_[node] == sizes_[node]) return true;
    return false;
  }
  [[nodiscard]] std::int64_t weight_to_others(int node) const {
    const auto place = static_cast<int>(node_of_.size());
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < traffic_.targets(place).size(); ++i) {
      const int target = traffic_.targets(place)[i];
      if (target < place && node_of_[static_cast<std::size_t>(target)] != node) weight += traffic_.weight(place, i);
    }
    return weight;
  }

  const Traffic traffic_;
  std::vector<int> sizes_;
  std::vector<int> left_;
  std::vector<int> node_of_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

std::int64_t weight_of(const Traffic& traffic, const Mapping& mapping, const std::vector<int>& nodes) {
  return cut(traffic, mapping, nodes).weight;
}

Mapping identity(int size) {
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return Mapping(std::move(ranks));
}

/// Ranks 0 to `each` - 1 on node 0, the next ones on node 1, ...
std::vector<int> filled_nodes(int ranks, int each) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / each);
  return nodes;
}

TEST(Bricks, CutNoMoreThanTheBestOfAllPlacementsOnEvenNodes) {
  int grids = 0;
  for (int x = 1; x <= 12; ++x)
    for (int y = 1; x * y <= 12; ++y)
      for (int z = 1; x * y * z <= 12; ++z)
        for (const int wrapped : {0, 5, 7}) {
          const Cartesian grid({x, y, z}, {(wrapped & 1) != 0, (wrapped & 2) != 0, (wrapped & 4) != 0});
          for (const int each : {2, 3, 4, 6}) {
            if (grid.size() % each != 0) continue;
            const std::vector<int> nodes = filled_nodes(grid.size(), each);
            const Traffic traffic = Traffic::of(grid);
            EXPECT_EQ(weight_of(traffic, Mapping::bricks(grid, nodes), nodes),
                      AllPlacements(traffic, nodes).least_weight())
                << to_string(Topology(grid)) << ", " << each << " ranks a node";
            ++grids;
          }
        }
  EXPECT_GT(grids, 400);
}

TEST(Bricks, AreNeverWorseThanTheIdentity) {
  std::mt19937 random(1);
  int better = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<int> dims;
    std::vector<bool> periodic;
    std::vector<std::int64_t> weights;
    for (int d = 0; d < 1 + round % 4; ++d) {
      dims.push_back(static_cast<int>(1 + random() % 4));
      periodic.push_back(random() % 2 == 0);
      weights.push_back(random() % 4 == 0 ? 0 : random() % 100);
    }
    const Cartesian grid(dims, periodic);
    std::vector<int> nodes;
    const auto count = 1 + random() % 9;
    for (int rank = 0; rank < grid.size(); ++rank) nodes.push_back(static_cast<int>(random() % count));
    if (round % 3 != 0) std::sort(nodes.begin(), nodes.end());
    if (round % 2 == 0) weights.clear();
    const Traffic traffic = Traffic::of(grid, weights);
    const std::int64_t before = weight_of(traffic, identity(grid.size()), nodes);
    const std::int64_t after = weight_of(traffic, Mapping::bricks(grid, nodes, weights), nodes);
    EXPECT_LE(after, before) << to_string(Topology(grid)) << ", round " << round;
    if (after < before) ++better;
  }
  EXPECT_GT(better, 20);
}

TEST(Bricks, OfUnevenNodesAreNearlyTheBest) {
  constexpr int kRounds = 40;
  std::mt19937 random(2);
  int best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Cartesian grid({static_cast<int>(2 + random() % 3), static_cast<int>(2 + random() % 3)},
                         {random() % 2 == 0, random() % 2 == 0});
    std::vector<int> nodes;
    for (int rank = 0; rank < grid.size(); ++rank) nodes.push_back(static_cast<int>(random() % 3));
    const Traffic traffic = Traffic::of(grid);
    const std::int64_t weight = weight_of(traffic, Mapping::bricks(grid, nodes), nodes);
    const std::int64_t least = AllPlacements(traffic, nodes).least_weight();
    EXPECT_LE(weight, least * 5 / 4) << to_string(Topology(grid));
    if (weight == least) ++best;
  }
  EXPECT_GE(best, kRounds * 9 / 10);
}

struct Known {
  Cartesian grid;
  int each;
  std::int64_t messages;  ///< through the faces of bricks that tile the grid, both ways
};

TEST(Bricks, TileLargeGrids) {
  const Known known[] = {
      {Cartesian({16, 16}, {false, false}), 16, 2 * 2 * 3 * 16},
      {Cartesian({16, 16}, {true, true}), 16, 2 * 2 * 4 * 16},
      {Cartesian({12, 12, 12}, {true, true, true}), 8, 2 * 3 * 6 * 144},
      {Cartesian({12, 18}, {false, true}), 6, 2 * (5 * 18 + 6 * 12)},  // 2 x 3
      {Cartesian({100, 6}, {false, false}), 36, 2 * 16 * 6},           // 6 x 6, the last 4 x 6
  };
  for (const Known& it : known) {
    const std::vector<int> nodes = filled_nodes(it.grid.size(), it.each);
    EXPECT_LE(cut(Traffic::of(it.grid), Mapping::bricks(it.grid, nodes), nodes).messages, it.messages)
        << to_string(Topology(it.grid));
  }
}

TEST(Bricks, DoNotDependOnTheOrderOfRanks) {
  const Cartesian grid({16, 16}, {false, false});
  std::vector<int> dealt;
  for (int rank = 0; rank < 256; ++rank) dealt.push_back(rank % 16);
  const Traffic traffic = Traffic::of(grid);
  EXPECT_EQ(weight_of(traffic, Mapping::bricks(grid, dealt), dealt), 2 * 2 * 3 * 16);
  EXPECT_GT(weight_of(traffic, identity(256), dealt), 900 - 480);
}

TEST(Bricks, AreLongWhereMessagesAreHeavy) {
  const Cartesian grid({8, 8}, {true, true});
  const std::vector<std::int64_t> weights{100, 1};
  const std::vector<int> nodes = filled_nodes(64, 8);
  // Columns of 8 places: no message along the first dimension leaves its node.
  EXPECT_EQ(weight_of(Traffic::of(grid, weights), Mapping::bricks(grid, nodes, weights), nodes), 2 * 64);
}

TEST(Bricks, KeepTheIdentityWhereNothingIsBetter) {
  EXPECT_TRUE(Mapping::bricks(Cartesian({8, 4}, {false, false}), filled_nodes(32, 16)).is_identity());
  EXPECT_TRUE(Mapping::bricks(Cartesian({5, 7}, {true, false}), std::vector<int>(35, 0)).is_identity());
  EXPECT_TRUE(Mapping::bricks(Cartesian({5, 7}, {true, false}), filled_nodes(35, 1)).is_identity());
  EXPECT_TRUE(Mapping::bricks(Cartesian({}, {}), std::vector<int>{4}).is_identity());
}

TEST(Bricks, NeedANodeForEachPlace) {
  expect_error(Errc::invalid_argument, {"bricks", "3 entries", "4 places"},
               [] { (void)Mapping::bricks(Cartesian({4}, {true}), std::vector<int>(3, 0)); });
}

TEST(Partition, IsNeverWorseThanTheIdentity) {
  std::mt19937 random(3);
  int better = 0;
  for (std::uint32_t round = 0; round < 60; ++round) {
    const int size = static_cast<int>(1 + random() % 40);
    const Traffic traffic = Traffic::of(test::random_graph(size, round));
    std::vector<int> nodes;
    for (int rank = 0; rank < size; ++rank) nodes.push_back(static_cast<int>(random() % 4));
    const std::int64_t before = weight_of(traffic, identity(size), nodes);
    const std::int64_t after = weight_of(traffic, Mapping::partition(traffic, nodes), nodes);
    EXPECT_LE(after, before) << "round " << round;
    if (after < before) ++better;
  }
  EXPECT_GT(better, 20);
}

TEST(Partition, FindsCliques) {
  // Place i belongs to clique i mod 3, of 8 places each; a light ring joins all.
  constexpr int kPlaces = 24;
  std::vector<std::int64_t> ends;
  std::vector<int> targets;
  std::vector<std::int64_t> weights;
  for (int place = 0; place < kPlaces; ++place) {
    for (int other = 0; other < kPlaces; ++other) {
      if (other == place || (other % 3 != place % 3 && other != (place + 1) % kPlaces)) continue;
      targets.push_back(other);
      weights.push_back(other % 3 == place % 3 ? 1'000'000'000'000 : 1);
    }
    ends.push_back(static_cast<std::int64_t>(targets.size()));
  }
  const Traffic traffic(ends, targets, weights);
  const std::vector<int> nodes = filled_nodes(kPlaces, 8);
  EXPECT_EQ(weight_of(traffic, Mapping::partition(traffic, nodes), nodes), kPlaces);
}

TEST(Partition, FindsAGridWhoseVerticesAreShuffled) {
  const Traffic grid = Traffic::of(Cartesian({16, 16}, {true, true}));
  std::vector<int> vertex(256);
  std::iota(vertex.begin(), vertex.end(), 0);
  std::shuffle(vertex.begin(), vertex.end(), std::mt19937(4));
  std::vector<std::vector<int>> lists(256);
  for (int place = 0; place < 256; ++place)
    for (const int target : grid.targets(place))
      lists[static_cast<std::size_t>(vertex[static_cast<std::size_t>(place)])].push_back(
          vertex[static_cast<std::size_t>(target)]);
  std::vector<std::int64_t> ends;
  std::vector<int> targets;
  for (const std::vector<int>& list : lists) {
    targets.insert(targets.end(), list.begin(), list.end());
    ends.push_back(static_cast<std::int64_t>(targets.size()));
  }
  const Traffic traffic(ends, targets);
  const std::vector<int> nodes = filled_nodes(256, 16);
  constexpr std::int64_t kBricks = 2 * 2 * 4 * 16;
  EXPECT_GT(weight_of(traffic, identity(256), nodes), 3 * kBricks);
  const Mapping mapping = Mapping::partition(traffic, nodes);
  EXPECT_LE(weight_of(traffic, mapping, nodes), kBricks * 5 / 4);
  EXPECT_EQ(Mapping::partition(traffic, nodes), mapping) << "same question, another answer";
}

TEST(Partition, TakesGraphsWithoutEdges) {
  for (const int size : {0, 1, 2, 5}) {
    const Traffic silent(std::vector<std::int64_t>(static_cast<std::size_t>(size), 0), {});
    EXPECT_TRUE(Mapping::partition(silent, filled_nodes(size, 1)).is_identity());
    EXPECT_TRUE(Mapping::partition(silent, filled_nodes(size, 2)).is_identity());
  }
}

TEST(Partition, NeedsANodeForEachPlace) {
  expect_error(Errc::invalid_argument, {"partition", "1 entries", "2 places"}, [] {
    (void)Mapping::partition(Traffic({0, 0}, {}), std::vector<int>{0});
  });
}

}  // namespace
}  // namespace fab
