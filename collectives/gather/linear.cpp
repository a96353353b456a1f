// Gather along a star: every rank sends its block to the root, P - 1 messages in one step. Rank counts: any; blocks may
// differ in size, which the root alone needs to know.
#include "collectives/building_blocks/gathered.h"

namespace fab::collectives {

void gather_linear(ScheduleBuilder& builder, const CollectiveCall& call) {
  if (call.rank != call.root) return builder.send(call.root, 0, own_block(call));
  const Gathered blocks(builder, call);
  for (Rank rank = 0; rank < call.ranks; ++rank)
    if (rank != call.root) builder.recv(rank, 0, blocks.room(rank));
}

}  // namespace fab::collectives
