// Finds the pairs of nodes of a persistent neighbour exchange that go by their carriers: asks the ranks of the node,
// and the carriers of other nodes.
#pragma once

#include "collectives/neighbor/node_agreement.h"
#include "core/communicator/communicator.h"
#include "core/progress/driver.h"

namespace fab::collectives {

/// The nodes of a communicator whose exchanges may go by them; null where no ranks share a node, or all do, and where
/// FAB_ALGO_NEIGHBOR forbids it, or `only_forced` and it does not demand it. All ranks think the same.
[[nodiscard]] const core::NodeMap* nodes_of_routes(const core::Communicator& communicator, bool only_forced);

/// Called by all ranks that make the exchange, before it is made; waits for the ranks of the node, and for carriers of
/// the nodes with which these have edges. Precondition: nodes_of_routes(). `call` is the exchange's name. Throws what
/// ends the wait.
[[nodiscard]] NodeRoutes agree_on_routes(core::Communicator& communicator, const NodeEdges& edges, const char* call,
                                         core::IdleHook idle);

}  // namespace fab::collectives
