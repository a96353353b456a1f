// Messages along the edges of a topology.
#pragma once

#include <span>
#include <vector>

#include "fab/schedule.h"

namespace fab::collectives {

/// For exchanges in place: copies blocks of the receive buffer to scratch memory, in a round of their own; returns
/// where they lie.
[[nodiscard]] std::vector<Block> copy_aside(ScheduleBuilder& builder, std::span<const Block> blocks);

/// What an exchange has for its edges: outgoing[i] for destination i, incoming[i] from source i. The builder has the
/// rounds that come before it.
struct EdgeBlocks {
  ScheduleBuilder builder;
  std::vector<Block> outgoing{};
  std::vector<Block> incoming{};
};

/// In the current round outgoing[i] goes to destination i, and incoming[i] comes from source i. Edges to oneself become
/// copies. Throws Error(invalid_topology), which names `call`, when a self edge has only one end.
void exchange_along(const Neighborhood& neighborhood, Rank self, ScheduleBuilder& builder,
                    std::span<const Block> outgoing, std::span<const Block> incoming, const char* call);

}  // namespace fab::collectives
