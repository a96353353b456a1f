// The schedule of a neighbour exchange of which some pairs of nodes go by their carriers (node_pairs.h).
//
// Three rounds: blocks to the sending carriers, and all that stays within the node; between the carriers, and along the
// other edges that go directly; from the receiving carriers to where the blocks belong, within the node. A rank and a
// carrier have one message in each of the first and the last, for all of its pairs together. Between two nodes goes one
// message, in which each value stands once.
#pragma once

#include <span>
#include <vector>

#include "collectives/neighbor/node_agreement.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// outgoing[i] goes to destination i, and incoming[i] comes from source i, from the current round on. The outgoing
/// blocks lie in one buffer. Throws as exchange_along.
void exchange_by_nodes(const core::NodeMap& map, const NodeRoutes& routes, const Neighborhood& neighborhood, Rank self,
                       ScheduleBuilder& builder, std::span<const Block> outgoing, std::span<const Block> incoming,
                       const char* call);

/// For each source the message that brings its block: the edge itself, or that of a receiving carrier. A block that
/// this rank brings itself has an edge that no message has.
[[nodiscard]] std::vector<Edge> arriving_edges(const core::NodeMap& map, const NodeRoutes& routes,
                                               std::span<const Edge> sources, Rank self);

}  // namespace fab::collectives
