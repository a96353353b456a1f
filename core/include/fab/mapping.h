// Embeddings: which rank takes which place of a topology, and what that costs on a machine of several nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab {

/// Who sends how much to whom in one exchange. Places are the positions of a grid in row-major order, or the vertices
/// of a graph.
class Traffic {
 public:
  /// Place i sends to targets[ends[i - 1]] to targets[ends[i] - 1] (from 0 for i = 0); the weights, bytes for instance,
  /// go along with the targets; none: each message has weight 1. Throws Error(invalid_argument) for ends that decrease
  /// or do not match the targets, a target that is no place, and weights of another number or below 0.
  Traffic(std::vector<std::int64_t> ends, std::vector<int> targets, std::vector<std::int64_t> weights = {});
  /// A message to each neighbour; weights[d]: of those along dimension d; none: 1 each. Throws Error(invalid_argument).
  static Traffic of(const Cartesian& grid, std::span<const std::int64_t> weights = {});
  static Traffic of(const Graph& graph);

  [[nodiscard]] int places() const noexcept { return static_cast<int>(ends_.size()); }
  /// To whom a place sends. Precondition, here and below: it is one.
  [[nodiscard]] std::span<const int> targets(int place) const noexcept {
    return std::span(targets_).subspan(first(place), degree(place));
  }
  [[nodiscard]] std::int64_t weight(int place, std::size_t message) const noexcept {
    return weights_.empty() ? 1 : weights_[first(place) + message];
  }
  /// One message each way between any two places that have some, its weight that of all of them together; none from a
  /// place to itself. Targets ascend.
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

/// A bijection from the places of a topology to ranks (or to processors, numbered in the same way).
class Mapping {
 public:
  /// ranks[place]. Throws Error(invalid_argument) unless it holds each rank from 0 below its size once.
  explicit Mapping(std::vector<Rank> ranks);

  /// The last dimension runs fastest, as MPI numbers the ranks of a grid: the identity.
  static Mapping row_major(const Cartesian& grid);
  /// The first dimension runs fastest.
  static Mapping column_major(const Cartesian& grid);
  /// Ranks follow the Z-order curve through the smallest cube with a power of two as its edge that holds the grid; what
  /// lies outside the grid is left out (G. M. Morton, A computer oriented geodetic data base, 1966).
  static Mapping morton(const Cartesian& grid);
  /// The same along Hilbert's curve (C. Hamilton, Compact Hilbert indices, Dalhousie CS-2006-07, 2006): where the grid
  /// is such a cube itself, successive ranks are neighbours.
  static Mapping hilbert(const Cartesian& grid);
  /// Onto a hypercube: neighbours in the grid, also around a periodic dimension, are processors whose numbers differ in
  /// one bit. Throws Error(invalid_topology) for an extent that is no power of two.
  static Mapping gray_code(const Cartesian& grid);

  /// Each node gets a region of the grid that is as compact as can be found, a brick where there is one that fits.
  /// nodes[rank] names the rank's node, by any number; nodes may have different numbers of ranks. `weights` as in
  /// Traffic::of. Never cuts more weight than row_major, which is what comes back when nothing better is found.
  /// Throws Error(invalid_argument) unless there are as many nodes as places.
  static Mapping bricks(const Cartesian& grid, std::span<const int> nodes, std::span<const std::int64_t> weights = {});
  /// The same for any traffic, by graph partitioning (F. Pellegrini and J. Roman, Scotch, HPCN 1996): never cuts more
  /// weight than the identity. Also throws Error(no_resources).
  static Mapping partition(const Traffic& traffic, std::span<const int> nodes);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  /// By place.
  [[nodiscard]] std::span<const Rank> ranks() const noexcept { return ranks_; }
  [[nodiscard]] bool is_identity() const noexcept;

  bool operator==(const Mapping&) const = default;

 private:
  std::vector<Rank> ranks_;
};

/// What one exchange costs between nodes.
struct Cut {
  std::int64_t messages = 0;       ///< from a rank to one of another node
  std::int64_t weight = 0;         ///< of all of them
  std::int64_t most_messages = 0;  ///< that leave the same node
  std::int64_t most_weight = 0;

  bool operator==(const Cut&) const = default;
};

/// nodes[rank] as above. Throws Error(invalid_argument) unless traffic, mapping and nodes have the same size.
[[nodiscard]] Cut cut(const Traffic& traffic, const Mapping& mapping, std::span<const int> nodes);

/// The number of links on the way from one processor to another.
using Hops = std::function<int(Rank from, Rank to)>;
[[nodiscard]] int hypercube_hops(Rank from, Rank to) noexcept;
/// Processors that form a mesh, or a torus where it is periodic, numbered in row-major order.
[[nodiscard]] Hops grid_hops(Cartesian processors);
/// The most links that a message takes (0 without messages). Throws Error(invalid_argument) unless traffic and mapping
/// have the same size.
[[nodiscard]] int dilation(const Traffic& traffic, const Mapping& mapping, const Hops& hops);

}  // namespace fab
