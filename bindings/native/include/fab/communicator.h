// Groups of ranks with a topology.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab {

namespace core {
class Communicator;
}

/// A group of ranks whose exchanges never meet those of another communicator. Cheap to copy (shared). All ranks start
/// the exchanges of one communicator in the same order; exchanges of different communicators may start in any order.
/// Making a communicator is collective over the one it is made from, and waits for its rank 0.
class Communicator {
 public:
  explicit Communicator(std::shared_ptr<core::Communicator> core) noexcept : core_(std::move(core)) {}

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

  /// The first ranks, as many as the grid has places; left-over ranks get none. Throws Error(invalid_topology) when the
  /// grid has more places than there are ranks.
  [[nodiscard]] std::optional<Communicator> cartesian(std::vector<int> dims, std::vector<bool> periodic) const;
  /// A graph that all ranks give as a whole; left-over ranks get none. Throws Error(invalid_topology).
  [[nodiscard]] std::optional<Communicator> graph(std::vector<int> index, std::vector<int> edges) const;
  /// Each rank gives its own edges. Throws Error(invalid_rank) for an edge to no rank of this communicator.
  [[nodiscard]] Communicator distributed_graph(std::vector<int> sources, std::vector<int> destinations) const;

  [[nodiscard]] const std::shared_ptr<core::Communicator>& core() const noexcept { return core_; }

 private:
  [[nodiscard]] std::optional<Communicator> derive(std::span<const Rank> ranks, std::optional<Topology> topology) const;
  [[nodiscard]] std::optional<Communicator> derive_first(int count, Topology topology, const char* call) const;

  std::shared_ptr<core::Communicator> core_;
};

}  // namespace fab
