// Prefixes of several nodes of consecutive ranks (Blelloch, Prefix Sums and Their Applications, 1990, as for more
// elements than processors): each node finds its own, the last ranks of nodes do an exclusive scan of what their nodes
// have altogether, and each rank puts what is of lower nodes before its own. The rules choose the algorithm of each
// step.
#pragma once

#include "collectives/calls/call.h"
#include "collectives/scan/doubling.h"

namespace fab::collectives {

/// Between nodes go only the messages of the exclusive scan on N ranks: at most ceil(log2 N) from each node by
/// recursive doubling, N - 1 altogether along a chain.
void scan_of_nodes(ScheduleBuilder& builder, const CollectiveCall& call, Prefix prefix);

}  // namespace fab::collectives
