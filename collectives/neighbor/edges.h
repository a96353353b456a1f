// Messages along the edges of a topology.
#pragma once

#include <span>

#include "fab/schedule.h"

namespace fab::collectives {

/// In the current round outgoing[i] goes to destination i, and incoming[i] comes from source i. Edges to oneself become
/// copies. Throws Error(invalid_topology), which names `call`, when a self edge has only one end.
void exchange_along(const Neighborhood& neighborhood, Rank self, ScheduleBuilder& builder,
                    std::span<const Block> outgoing, std::span<const Block> incoming, const char* call);

}  // namespace fab::collectives
