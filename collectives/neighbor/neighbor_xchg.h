// Nearest-neighbour exchange: block i to destination i, block i from source i (Topological Collectives for MPI-2, 2.1).
#pragma once

#include "collectives/calls/block_list.h"
#include "collectives/neighbor/persistent_edges.h"
#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "fab/schedule.h"

namespace fab::collectives {

struct NeighborXchg {
  BlockList send;  ///< ignored when in place
  BlockList recv;
  bool in_place = false;  ///< the receive blocks are sent and replaced
};

/// The schedule of one rank. Edges to oneself become copies. Throws Error(invalid_argument) when the numbers of blocks
/// are not those of the neighbours, Error(invalid_topology) when a self edge has only one end.
[[nodiscard]] Schedule build_neighbor_xchg(const Neighborhood& neighborhood, Rank self, int ranks,
                                           const NeighborXchg& call, const CommitOptions& options);

/// Makes a persistent exchange, which throws when it is made what the start throws. Between nodes that hold several
/// ranks it waits for other ranks (persistent_edges.h).
[[nodiscard]] core::Persistent make_neighbor_xchg(std::shared_ptr<core::Communicator> communicator, const void* send,
                                                  void* recv, const NeighborXchg& call, const PersistentUse& use = {});

/// Starts the exchange on a communicator with a topology; builds nothing when the same shape was started before.
/// Under the engine's lock. Throws what build_neighbor_xchg throws, and Error(invalid_topology) without a topology.
core::Run& start_neighbor_xchg(core::Communicator& communicator, const void* send, void* recv, const NeighborXchg& call)
    FAB_REQUIRES(core::engine_lock);

}  // namespace fab::collectives
