// Communicators: groups of ranks, with or without a topology, whose messages stay apart from those of other groups.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fab/api.h"
#include "fab/topology.h"

namespace fab {

namespace core {
class Communicator;
}
struct Access;

/// Whether ranks may change places so that fewer messages along a topology cross from node to node. The new
/// communicator's rank i then takes place i of the topology, but may be another process than rank i of the old
/// communicator. The number of messages between nodes (or their weight, if weights are given) never grows. Ranks do not
/// move if it does not shrink, or if the launcher does not tell which ranks share a node. Rank 0 needs time and memory
/// that grow with the communicator. FAB_LOG=info logs how many ranks moved.
enum class Reorder : bool {
  no,  ///< place i of the topology is rank i of the old communicator
  yes  ///< ranks may change places
};

/// A group of ranks. Messages of one communicator never meet those of another. Copies are cheap (shared). All ranks
/// start the exchanges of one communicator in the same order; exchanges of different communicators may start in any
/// order. Making a communicator is collective over the communicator it is made from, and waits for that one's rank 0.
class FAB_API Communicator {
 public:
  /// The calling rank's number in this communicator.
  [[nodiscard]] Rank rank() const noexcept;
  /// The number of ranks.
  [[nodiscard]] int size() const noexcept;
  /// The topology. Null if there is none.
  [[nodiscard]] const Topology* topology() const noexcept;
  /// This rank's edges, in the order of its blocks. Throws Error(invalid_topology) without a topology.
  [[nodiscard]] const Neighborhood& neighborhood() const;

  /// A communicator with the same ranks and topology, and separate messages.
  [[nodiscard]] Communicator duplicate() const;
  /// A communicator of the listed ranks, numbered in the order of the list. All ranks give the same list: ranks of this
  /// communicator, each once. Ranks that are not listed get none. Throws Error(invalid_rank).
  [[nodiscard]] std::optional<Communicator> subset(std::span<const Rank> ranks) const;

  /// A grid of the first ranks, as many as it has places. `weights` says how much travels along each dimension, for
  /// instance in bytes; without weights, the same along each. Only rank 0 needs to give weights, and only Reorder::yes
  /// uses them. If weights are negative or not as many as dimensions, rank 0 warns and no rank moves. Throws
  /// Error(invalid_topology) if the grid has more places than there are ranks, and, if it has fewer, on each rank that
  /// gets no place.
  [[nodiscard]] Communicator cartesian(std::vector<int> dims, std::vector<bool> periodic, Reorder reorder = Reorder::no,
                                       std::span<const std::int64_t> weights = {}) const;
  /// As above, but a rank that gets no place gets no communicator.
  [[nodiscard]] std::optional<Communicator> cartesian_if(std::vector<int> dims, std::vector<bool> periodic,
                                                         Reorder reorder = Reorder::no,
                                                         std::span<const std::int64_t> weights = {}) const;
  /// A graph, which all ranks give as a whole. Throws Error(invalid_topology), also on each rank that gets no place.
  [[nodiscard]] Communicator graph(std::vector<int> index, std::vector<int> edges, Reorder reorder = Reorder::no) const;
  /// As above, but a rank that gets no place gets no communicator.
  [[nodiscard]] std::optional<Communicator> graph_if(std::vector<int> index, std::vector<int> edges,
                                                     Reorder reorder = Reorder::no) const;
  /// A distributed graph. Each rank gives the edges of the place with its number; these are its own edges unless ranks
  /// are reordered. `weights` says how much goes to each destination; without weights, the same. Throws
  /// Error(invalid_rank) for an edge to a rank outside this communicator, Error(invalid_argument) for weights below 0
  /// or of another number than destinations. Reorder::yes gathers the whole graph on each rank during the call.
  [[nodiscard]] Communicator distributed_graph(std::vector<int> sources, std::vector<int> destinations,
                                               Reorder reorder = Reorder::no,
                                               std::vector<std::int64_t> weights = {}) const;
  /// A distributed graph of which each rank knows only the edges that leave it, to `destinations`, each rank once. The
  /// sources are found by fab::discover (fab/discover.h), and are in ascending order. Throws what distributed_graph and
  /// discover throw.
  [[nodiscard]] Communicator distributed_graph_to(std::vector<int> destinations, Reorder reorder = Reorder::no,
                                                  std::vector<std::int64_t> weights = {}) const;

 private:
  friend struct Access;
  Communicator() noexcept = default;
  explicit Communicator(std::shared_ptr<core::Communicator> core) noexcept : core_(std::move(core)) {}
  [[nodiscard]] std::optional<Communicator> derive(std::span<const Rank> ranks, std::optional<Topology> topology) const;

  std::shared_ptr<core::Communicator> core_;
};

}  // namespace fab
