// The neighbourhood collectives of the standard (MPI-4.1, section 8.6): along the edges of neighbor_xchg, but with its
// order of blocks.
#pragma once

#include <memory>
#include <vector>

#include "collectives/calls/block_list.h"
#include "collectives/neighbor/persistent_edges.h"
#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "fab/schedule.h"

namespace fab::collectives {

enum class NeighborCall { allgather, allgatherv, alltoall, alltoallv };

struct NeighborCollective {
  NeighborCall call = NeighborCall::alltoall;
  BlockList send;  ///< allgather, allgatherv: one block, which goes to all destinations
  BlockList recv;
  bool in_place = false;  ///< alltoall, alltoallv: the receive blocks are sent and replaced
};

/// How many blocks there are on each side. On a Cartesian grid two a dimension, in direction -1, then +1, those of
/// missing neighbours included; otherwise one an edge, in their order.
struct StandardBlocks {
  std::size_t send = 0;
  std::size_t recv = 0;
};
[[nodiscard]] StandardBlocks standard_blocks(const Topology& topology, const Neighborhood& neighborhood) noexcept;

/// Which blocks belong to the edges.
struct StandardOrder {
  std::vector<std::size_t> destinations;
  std::vector<std::size_t> sources;
};
[[nodiscard]] StandardOrder standard_order(const Topology& topology, const Neighborhood& neighborhood);

/// The schedule of one rank. Throws Error(invalid_argument) when the numbers of blocks are not those of the topology,
/// Error(invalid_topology) when a self edge has only one end.
[[nodiscard]] Schedule build_neighbor_collective(const Topology& topology, Rank self, int ranks,
                                                 const NeighborCollective& call, const CommitOptions& options);

/// Makes a persistent call, which throws when it is made what the start throws. Between nodes that hold several ranks
/// it waits for other ranks (persistent_edges.h).
[[nodiscard]] core::Persistent make_neighbor_collective(std::shared_ptr<core::Communicator> communicator,
                                                        const void* send, void* recv, const NeighborCollective& call,
                                                        const PersistentUse& use = {});

/// Starts the call on a communicator with a topology; builds nothing when the same shape was started before. Under the
/// engine's lock. Throws what build_neighbor_collective throws, and Error(invalid_topology) without a topology.
core::Run& start_neighbor_collective(core::Communicator& communicator, const void* send, void* recv,
                                     const NeighborCollective& call) FAB_REQUIRES(core::engine_lock);

}  // namespace fab::collectives
