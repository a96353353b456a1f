// Groups of ranks with a topology.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab {

namespace core {
class Communicator;
}
struct Access;

/// Whether ranks may change places so that fewer messages of a topology go from node to node. Place i, whose neighbours
/// the topology names by their places, then is rank i of the new communicator, but perhaps not rank i of the old one.
/// The number of messages between nodes (their weight, where weights are given) never grows; nobody moves where it does
/// not become smaller, or where the launcher does not tell which ranks share a node. Takes time and memory on rank 0
/// that grow with the communicator; how many move is logged (FAB_LOG=info).
enum class Reorder : bool { no, yes };

/// A group of ranks whose exchanges never meet those of another communicator. Cheap to copy (shared). All ranks start
/// the exchanges of one communicator in the same order; exchanges of different communicators may start in any order.
/// Making a communicator is collective over the one it is made from, and waits for its rank 0.
class Communicator {
 public:
  [[nodiscard]] Rank rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// Null without one.
  [[nodiscard]] const Topology* topology() const noexcept;
  /// This rank's edges, in the order of its blocks. Throws Error(invalid_topology) without a topology.
  [[nodiscard]] const Neighborhood& neighborhood() const;

  /// The same ranks and topology, separate traffic.
  [[nodiscard]] Communicator duplicate() const;
  /// The listed ranks (the same list on all ranks; ranks of this communicator, each once), numbered in that order; the
  /// others get none. Throws Error(invalid_rank).
  [[nodiscard]] std::optional<Communicator> subset(std::span<const Rank> ranks) const;

  /// The first ranks, as many as the grid has places. `weights`, which only rank 0 needs to give and only Reorder::yes
  /// asks for: how much goes along each dimension, in bytes for instance; none: the same. Weights below 0 or of another
  /// number than dimensions make rank 0 warn, and no rank moves. Throws Error(invalid_topology) when the grid has more
  /// places than there are ranks, and on each rank that is left over when it has fewer.
  [[nodiscard]] Communicator cartesian(std::vector<int> dims, std::vector<bool> periodic, Reorder reorder = Reorder::no,
                                       std::span<const std::int64_t> weights = {}) const;
  /// The same where ranks may be left over: these get none.
  [[nodiscard]] std::optional<Communicator> cartesian_if(std::vector<int> dims, std::vector<bool> periodic,
                                                         Reorder reorder = Reorder::no,
                                                         std::span<const std::int64_t> weights = {}) const;
  /// A graph that all ranks give as a whole. Throws Error(invalid_topology), also on each rank that is left over.
  [[nodiscard]] Communicator graph(std::vector<int> index, std::vector<int> edges, Reorder reorder = Reorder::no) const;
  /// The same where ranks may be left over: these get none.
  [[nodiscard]] std::optional<Communicator> graph_if(std::vector<int> index, std::vector<int> edges,
                                                     Reorder reorder = Reorder::no) const;
  /// Each rank gives the edges of the place with its number: its own unless ranks are reordered. `weights`: how much
  /// goes to each destination; none: the same. Throws Error(invalid_rank) for an edge to no rank of this communicator,
  /// Error(invalid_argument) for weights below 0 or of another number than destinations. Reorder::yes brings the whole
  /// graph to each rank while this runs.
  [[nodiscard]] Communicator distributed_graph(std::vector<int> sources, std::vector<int> destinations,
                                               Reorder reorder = Reorder::no,
                                               std::vector<std::int64_t> weights = {}) const;

 private:
  friend struct Access;
  explicit Communicator(std::shared_ptr<core::Communicator> core) noexcept : core_(std::move(core)) {}
  [[nodiscard]] std::optional<Communicator> derive(std::span<const Rank> ranks, std::optional<Topology> topology) const;

  std::shared_ptr<core::Communicator> core_;
};

}  // namespace fab
