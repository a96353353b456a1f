// Scatter along a star: the root sends every rank its block, P - 1 messages in one step. Rank counts: any; blocks may
// differ in size, which the root alone needs to know.
#include "collectives/calls/call.h"

namespace fab::collectives {

void scatter_linear(ScheduleBuilder& builder, const CollectiveCall& call) {
  if (call.rank != call.root) return builder.recv(call.root, 0, call.output());
  const auto block = [&](Rank rank) { return call.send[static_cast<std::size_t>(rank)].in(BufferId::send); };
  for (Rank rank = 0; rank < call.ranks; ++rank)
    if (rank != call.root) builder.send(rank, 0, block(rank));
  if (!call.in_place) builder.copy(block(call.root), call.output());
}

}  // namespace fab::collectives
