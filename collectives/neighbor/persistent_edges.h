// A persistent exchange along edges, made by all ranks together: directly or, where it pays, by nodes.
#pragma once

#include <memory>
#include <span>

#include "collectives/neighbor/edges.h"
#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "core/progress/driver.h"

namespace fab::collectives {

/// What a caller does with a persistent exchange.
struct PersistentUse {
  core::IdleHook idle = nullptr;  ///< called while making it waits
  /// Waits for single blocks: each shall come once its source has started, even if other ranks have not. So the
  /// exchange goes by nodes only where FAB_ALGO_NEIGHBOR says so.
  bool single_blocks = false;
};

/// Where some ranks of the communicator share a node, and others do not, this waits for the ranks of the own node, and
/// for those that carry for the nodes to which their edges lead, unless FAB_ALGO_NEIGHBOR=direct: it finds out which
/// blocks go by nodes (node_agreement.h). Single calls cannot do so: a rank that has the
/// plan of its call would have to know that others have none. `name` outlives the call. Throws as exchange_along, what
/// ends the wait, and as Persistent.
[[nodiscard]] core::Persistent make_persistent(const std::shared_ptr<core::Communicator>& communicator,
                                               std::span<std::byte* const> bases, const Neighborhood& neighborhood,
                                               EdgeBlocks blocks, const char* name, const PersistentUse& use);

}  // namespace fab::collectives
