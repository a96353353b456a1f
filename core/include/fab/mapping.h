// Mappings: which rank takes which place of a topology, and how much traffic then crosses from node to node.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fab/api.h"
#include "fab/topology.h"

namespace fab {

/// The messages of one exchange: which place sends how much to which other places. Places are the positions of a grid
/// in row-major order, or the vertices of a graph.
class FAB_API Traffic {
 public:
  /// Place i sends to targets[ends[i - 1]] up to targets[ends[i] - 1] (from targets[0] for i = 0). weights[k] belongs
  /// to targets[k]; without weights each message has weight 1. Throws Error(invalid_argument) for ends that decrease or
  /// do not match targets, a target that is no place, and weights that are negative or not as many as targets.
  Traffic(std::vector<std::int64_t> ends, std::vector<int> targets, std::vector<std::int64_t> weights = {});
  /// One message to each neighbour, of weight weights[d] along dimension d, or 1. Throws Error(invalid_argument) for
  /// weights that are negative or not as many as dimensions.
  static Traffic of(const Cartesian& grid, std::span<const std::int64_t> weights = {});
  /// One message of weight 1 for each entry of the graph's lists of neighbours.
  static Traffic of(const Graph& graph);

  /// The number of places.
  [[nodiscard]] int places() const noexcept { return static_cast<int>(ends_.size()); }
  /// The places that `place` sends to. Precondition, here and below: 0 <= place < places().
  [[nodiscard]] std::span<const int> targets(int place) const noexcept {
    return std::span(targets_).subspan(first(place), degree(place));
  }
  /// The weight of the message to targets(place)[message]. Precondition: message < targets(place).size().
  [[nodiscard]] std::int64_t weight(int place, std::size_t message) const noexcept {
    return weights_.empty() ? 1 : weights_[first(place) + message];
  }
  /// This traffic with one message each way between any two places that exchange any, with the weight of all of those
  /// together, and none from a place to itself. Targets ascend.
  [[nodiscard]] Traffic symmetric() const;

 private:
  [[nodiscard]] std::size_t first(int place) const noexcept {
    return place == 0 ? 0 : static_cast<std::size_t>(ends_[static_cast<std::size_t>(place) - 1]);
  }
  [[nodiscard]] std::size_t degree(int place) const noexcept {
    return static_cast<std::size_t>(ends_[static_cast<std::size_t>(place)]) - first(place);
  }

  std::vector<std::int64_t> ends_;
  std::vector<int> targets_;
  std::vector<std::int64_t> weights_;
};

/// A bijection from the places of a topology to ranks, or to processors that are numbered like ranks.
class FAB_API Mapping {
 public:
  /// Place i gets rank ranks[i]. Throws Error(invalid_argument) unless each of 0 to ranks.size() - 1 occurs once.
  explicit Mapping(std::vector<Rank> ranks);

  /// The identity. The last dimension runs fastest, as MPI numbers the ranks of a grid.
  static Mapping row_major(const Cartesian& grid);
  /// The first dimension runs fastest.
  static Mapping column_major(const Cartesian& grid);
  /// Ranks follow the Z-order curve through the smallest cube that holds the grid and whose edge is a power of two.
  /// Places outside the grid are skipped (G. M. Morton, A computer oriented geodetic data base, 1966).
  static Mapping morton(const Cartesian& grid);
  /// As morton, but along Hilbert's curve (C. Hamilton, Compact Hilbert indices, Dalhousie CS-2006-07, 2006). If the
  /// grid is such a cube itself, successive ranks are neighbours.
  static Mapping hilbert(const Cartesian& grid);
  /// Maps the grid to a hypercube. The numbers of processors that are neighbours in the grid, also across a periodic
  /// border, differ in one bit. Throws Error(invalid_topology) if an extent is no power of two.
  static Mapping gray_code(const Cartesian& grid);

  /// Gives each node a region of the grid that is as compact as the search can find: a brick, if one fits. nodes[rank]
  /// is the rank's node, as any number; nodes may have different numbers of ranks. `weights` as in Traffic::of. The
  /// result never cuts more weight than row_major; if the search finds nothing better, the result is row_major. Throws
  /// Error(invalid_argument) unless nodes.size() is the number of places.
  static Mapping bricks(const Cartesian& grid, std::span<const int> nodes, std::span<const std::int64_t> weights = {});
  /// As bricks, for any traffic, by graph partitioning (F. Pellegrini and J. Roman, Scotch, HPCN 1996). The result
  /// never cuts more weight than the identity. Also throws Error(no_resources).
  static Mapping partition(const Traffic& traffic, std::span<const int> nodes);

  /// The number of places, which is that of ranks.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  /// The rank of each place.
  [[nodiscard]] std::span<const Rank> ranks() const noexcept { return ranks_; }
  /// Whether place i has rank i for all i.
  [[nodiscard]] bool is_identity() const noexcept;

  bool operator==(const Mapping&) const = default;  ///< the same rank at every place

 private:
  std::vector<Rank> ranks_;
};

/// The messages of one exchange that cross from node to node.
struct Cut {
  std::int64_t messages = 0;       ///< from a rank to a rank of another node
  std::int64_t weight = 0;         ///< the sum of their weights
  std::int64_t most_messages = 0;  ///< the most that leave one node
  std::int64_t most_weight = 0;    ///< the most weight that leaves one node

  bool operator==(const Cut&) const = default;  ///< all four figures are equal
};

/// The cut of `mapping`, with rank r on node nodes[r]. Throws Error(invalid_argument) unless all three have one
/// size.
[[nodiscard]] FAB_API Cut cut(const Traffic& traffic, const Mapping& mapping, std::span<const int> nodes);

/// The number of links on the path from one processor to another.
using Hops = std::function<int(Rank from, Rank to)>;
/// Hops in a hypercube: the number of bits in which the numbers of the processors differ.
[[nodiscard]] FAB_API int hypercube_hops(Rank from, Rank to) noexcept;
/// Hops in a mesh of processors, or in a torus along periodic dimensions. Processors are numbered in row-major order.
[[nodiscard]] FAB_API Hops grid_hops(Cartesian processors);
/// The largest number of links that a message crosses; 0 without messages. Throws Error(invalid_argument) unless
/// traffic and mapping have the same size.
[[nodiscard]] FAB_API int dilation(const Traffic& traffic, const Mapping& mapping, const Hops& hops);

}  // namespace fab
