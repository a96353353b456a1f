// Process topologies: who are my sources and destinations, in which order, and which of my blocks meets which of
// theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace fab {

/// A process number within a communicator.
using Rank = int;

/// One directed edge seen from one of its ends. Two ends of the same edge carry the same slot: what leaves
/// rank i on an edge {peer j, slot s} arrives at rank j on its edge {peer i, slot s}. Slots are unique among
/// the edges from one given rank to one given other rank.
struct Edge {
  Rank peer = 0;
  std::uint32_t slot = 0;

  bool operator==(const Edge&) const = default;
};

/// The edges of one rank. For every kind but the distributed graph both lists name the same neighbours in the
/// same order, so block i is sent to and received from neighbour i (Topological Collectives for MPI-2, 2.1).
struct Neighborhood {
  std::vector<Edge> destinations;
  std::vector<Edge> sources;

  bool operator==(const Neighborhood&) const = default;
};

/// A Cartesian grid of ranks in row-major order, any number of dimensions, each periodic or not
/// (MPI-4.1, chapter 8.5). Zero dimensions mean one rank without neighbours.
class Cartesian {
 public:
  /// Throws Error(invalid_topology): arrays of different lengths, an extent below 1, or a product beyond 2^31-1.
  Cartesian(std::vector<int> dims, std::vector<bool> periodic);

  [[nodiscard]] int dimensions() const noexcept { return static_cast<int>(dims_.size()); }
  [[nodiscard]] std::span<const int> dims() const noexcept { return dims_; }
  /// Throws Error(invalid_argument).
  [[nodiscard]] bool periodic(int dimension) const;
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Coordinates of a rank. Throws Error(invalid_rank).
  [[nodiscard]] std::vector<int> coordinates(Rank rank) const;
  /// The rank at coordinates; periodic dimensions wrap. Throws Error(invalid_argument) for a coordinate
  /// outside a non-periodic dimension or a wrong number of coordinates.
  [[nodiscard]] Rank rank_at(std::span<const int> coordinates) const;

  struct Shift {
    std::optional<Rank> source;
    std::optional<Rank> destination;
  };
  /// Who sends to me and whom I send to when everything moves by `displacement` (any integer) along
  /// `dimension`; none where that leaves a non-periodic dimension. Throws Error(invalid_argument).
  [[nodiscard]] Shift shift(Rank rank, int dimension, int displacement) const;

  /// Per dimension displacement +1, then -1; directions that leave a non-periodic dimension are omitted
  /// (Topological Collectives for MPI-2, 2.2). What leaves in direction +d arrives in the receiver's -d block,
  /// also in periodic dimensions of size 1 and 2.
  [[nodiscard]] Neighborhood neighborhood(Rank rank) const;

 private:
  [[nodiscard]] std::optional<Rank> neighbor(const std::vector<int>& coordinates, int dimension,
                                             std::int64_t displacement) const;
  std::vector<int> dims_;
  std::vector<bool> periodic_;
  int size_ = 1;
};

/// Extents of a grid of `ranks` ranks (MPI-4.1, chapter 8.5.2): entries of `dims` above 0 are kept, those that are 0
/// are chosen as close to each other as possible (the least difference between the largest and the smallest, among
/// those the least sum, among those the least first, second, ... one) and do not increase. Throws
/// Error(invalid_argument) for ranks below 1, a negative entry, and entries whose product does not divide the ranks or,
/// where none is 0, is not their number.
[[nodiscard]] std::vector<int> dims_create(int ranks, std::vector<int> dims);

/// A graph that every rank knows as a whole (MPI_Graph_create): index[i] is the total number of neighbours of
/// ranks 0..i, edges lists them rank by rank. The k-th entry of j in i's list pairs with the k-th entry of i in j's.
class Graph {
 public:
  /// Throws Error(invalid_topology): decreasing index, edges of the wrong length, an edge to no rank of the
  /// graph, or an edge that its other end does not list as often.
  Graph(std::vector<int> index, std::vector<int> edges);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(index_.size()); }
  /// Throws Error(invalid_rank).
  [[nodiscard]] std::span<const int> neighbors(Rank rank) const;
  [[nodiscard]] Neighborhood neighborhood(Rank rank) const;

 private:
  std::vector<int> index_;
  std::vector<int> edges_;
};

/// The calling rank's own edges only (MPI_Dist_graph_create_adjacent). The k-th edge i->j pairs with the k-th
/// i among j's sources.
class DistributedGraph {
 public:
  /// Throws Error(invalid_topology) for a negative rank.
  DistributedGraph(std::vector<int> sources, std::vector<int> destinations);

  [[nodiscard]] std::span<const int> sources() const noexcept { return sources_; }
  [[nodiscard]] std::span<const int> destinations() const noexcept { return destinations_; }
  [[nodiscard]] Neighborhood neighborhood() const;

 private:
  std::vector<int> sources_;
  std::vector<int> destinations_;
};

using Topology = std::variant<Cartesian, Graph, DistributedGraph>;

/// The edges of `rank`; of a distributed graph, those of the calling rank, which `rank` must then be.
[[nodiscard]] Neighborhood neighborhood(const Topology& topology, Rank rank);

/// A short description: "cartesian 4x2 periodic 1,0", "graph of 8 ranks", "distributed graph, 3 in, 2 out".
[[nodiscard]] std::string to_string(const Topology& topology);

}  // namespace fab
