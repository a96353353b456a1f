// Process topologies: the sources and destinations of each rank, their order, and which blocks of two neighbours belong
// together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fab/api.h"

namespace fab {

/// The number of a process within a communicator, from 0.
using Rank = int;

/// The number of a dimension of a grid, from 0: fab::Dimension{0}. It has a type of its own so that no call takes it
/// for a rank or a displacement.
enum class Dimension : int {};

/// One directed edge, seen from one of its ends. Both ends carry the same slot: a block that leaves rank i on an edge
/// {peer j, slot s} arrives at rank j on its edge {peer i, slot s}. Slots are unique among the edges from one rank to
/// another rank.
struct Edge {
  Rank peer = 0;           ///< the rank at the other end
  std::uint32_t slot = 0;  ///< tells edges between the same two ranks apart

  bool operator==(const Edge&) const = default;  ///< the same peer and slot
};

/// The edges of one rank. Except for distributed graphs, both lists name the same neighbours in the same order, so
/// block i goes to and comes from neighbour i (Topological Collectives for MPI-2, 2.1).
struct Neighborhood {
  std::vector<Edge> destinations;  ///< edges on which blocks leave; block i leaves on the i-th
  std::vector<Edge> sources;       ///< edges on which blocks arrive; block i arrives on the i-th

  bool operator==(const Neighborhood&) const = default;  ///< the same edges in the same order
};

/// A Cartesian grid of ranks in row-major order, with any number of dimensions, each periodic or not (MPI-4.1, chapter
/// 8.5). A grid without dimensions has one rank and no neighbours.
class FAB_API Cartesian {
 public:
  /// Throws Error(invalid_topology) for arrays of different lengths, an extent below 1, or a product above 2^31-1.
  Cartesian(std::vector<int> dims, std::vector<bool> periodic);

  /// The number of dimensions; may be 0.
  [[nodiscard]] int dimensions() const noexcept { return static_cast<int>(dims_.size()); }
  /// The number of ranks along each dimension, slowest first.
  [[nodiscard]] std::span<const int> dims() const noexcept { return dims_; }
  /// Whether the first and the last rank along `dimension` are neighbours. Throws Error(invalid_argument) unless
  /// `dimension` is 0 to dimensions() - 1.
  [[nodiscard]] bool periodic(Dimension dimension) const;
  /// The number of ranks: the product of dims().
  [[nodiscard]] int size() const noexcept { return size_; }

  /// The coordinates of a rank. Throws Error(invalid_rank) unless 0 <= rank < size().
  [[nodiscard]] std::vector<int> coordinates(Rank rank) const;
  /// The rank at `coordinates`; coordinates along periodic dimensions wrap. Throws Error(invalid_argument) for a
  /// coordinate outside a non-periodic dimension, or another number of coordinates than dimensions.
  [[nodiscard]] Rank rank_at(std::span<const int> coordinates) const;

  /// The two other ranks of a shift, seen from one rank.
  struct ShiftRanks {
    std::optional<Rank> source;       ///< the rank whose block arrives here
    std::optional<Rank> destination;  ///< the rank that this one's block goes to
  };
  /// The ranks that `rank` receives from and sends to if blocks move by `displacement` (any integer) along `dimension`;
  /// none where that leaves a non-periodic dimension. Throws Error(invalid_argument) for a dimension out of range.
  [[nodiscard]] ShiftRanks shift(Rank rank, Dimension dimension, int displacement) const;

  /// Per dimension the neighbour at +1, then the one at -1. Directions that leave a non-periodic dimension are omitted
  /// (Topological Collectives for MPI-2, 2.2). A block that leaves in direction +d arrives in the receiver's -d block,
  /// also in periodic dimensions of size 1 and 2. Throws Error(invalid_rank) unless 0 <= rank < size().
  [[nodiscard]] Neighborhood neighborhood(Rank rank) const;

 private:
  [[nodiscard]] std::optional<Rank> neighbor(const std::vector<int>& coordinates, int dimension,
                                             std::int64_t displacement) const;
  std::vector<int> dims_;
  std::vector<bool> periodic_;
  int size_ = 1;
};

/// The extents of a grid of `ranks` ranks (MPI-4.1, chapter 8.5.2). Entries of `dims` above 0 stay. Entries that are 0
/// are chosen in non-increasing order and as close to each other as possible: first by the least difference between
/// largest and smallest, then by the least sum, then by the least first entry, second entry, and so on. Throws
/// Error(invalid_argument) for ranks below 1, a negative entry, or entries whose product does not divide `ranks` (or,
/// if none is 0, is not `ranks`).
[[nodiscard]] FAB_API std::vector<int> dims_create(int ranks, std::vector<int> dims);

/// A graph that every rank knows as a whole (MPI_Graph_create). index[i] is the total number of neighbours of ranks 0
/// to i; edges lists them rank by rank. The k-th entry of j in i's list pairs with the k-th entry of i in j's.
class FAB_API Graph {
 public:
  /// Throws Error(invalid_topology) for a decreasing index, another number of edges, an edge to a rank outside the
  /// graph, or an edge that its other end lists less often.
  Graph(std::vector<int> index, std::vector<int> edges);

  /// The number of ranks.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(index_.size()); }
  /// The neighbours of `rank`, as they were listed. Throws Error(invalid_rank) unless 0 <= rank < size().
  [[nodiscard]] std::span<const int> neighbors(Rank rank) const;
  /// One edge to and one from each of neighbors(rank), in their order. Throws like neighbors.
  [[nodiscard]] Neighborhood neighborhood(Rank rank) const;

 private:
  std::vector<int> index_;
  std::vector<int> edges_;
};

/// A graph of which each rank knows only its own edges (MPI_Dist_graph_create_adjacent). The k-th edge from i to j, as
/// i lists it, pairs with the k-th i among j's sources.
class FAB_API DistributedGraph {
 public:
  /// Throws Error(invalid_topology) for a negative rank.
  DistributedGraph(std::vector<int> sources, std::vector<int> destinations);

  /// The ranks from which blocks come, as this rank listed them.
  [[nodiscard]] std::span<const int> sources() const noexcept { return sources_; }
  /// The ranks that blocks go to, as this rank listed them.
  [[nodiscard]] std::span<const int> destinations() const noexcept { return destinations_; }
  /// The calling rank's edges, in the order of sources() and destinations().
  [[nodiscard]] Neighborhood neighborhood() const;

 private:
  std::vector<int> sources_;
  std::vector<int> destinations_;
};

/// The pattern of a communicator's exchanges.
using Topology = std::variant<Cartesian, Graph, DistributedGraph>;

/// The edges of `rank`. For a distributed graph, `rank` must be the calling rank. Throws Error(invalid_rank) for a rank
/// outside a grid or graph.
[[nodiscard]] FAB_API Neighborhood neighborhood(const Topology& topology, Rank rank);

/// A short description: "cartesian 4x2 periodic 1,0", "graph of 8 ranks", "distributed graph, 3 in, 2 out".
[[nodiscard]] FAB_API std::string to_string(const Topology& topology);

}  // namespace fab
