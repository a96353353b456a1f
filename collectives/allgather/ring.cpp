// Allgather round a ring (Lang, Distributed-Memory Programming Models II, all-to-all broadcast). Rank counts: any. In
// step k rank i sends block i - k to i + 1 and receives block i - k - 1 from i - 1; P - 1 steps.
#include "collectives/building_blocks/gathered.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

void allgather_ring(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const Rank next = (call.rank + 1) % ranks;
  const Rank previous = (call.rank - 1 + ranks) % ranks;
  const Gathered blocks(builder, call);
  for (int step = 0; step + 1 < ranks; ++step) {
    builder.recv(previous, slot_of_step(step), blocks.room((previous - step + ranks) % ranks));
    builder.send(next, slot_of_step(step), blocks.held((call.rank - step + ranks) % ranks));
    builder.round();
  }
}

}  // namespace fab::collectives
