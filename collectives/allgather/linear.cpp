// Allgather in one step: every rank sends its block to every other one, P - 1 messages. Rank counts: any.
#include "collectives/building_blocks/gathered.h"

namespace fab::collectives {

void allgather_linear(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Gathered blocks(builder, call);
  for (int distance = 1; distance < call.ranks; ++distance) {
    const Rank from = (call.rank - distance + call.ranks) % call.ranks;
    builder.recv(from, 0, blocks.room(from));
    builder.send((call.rank + distance) % call.ranks, 0, blocks.held(call.rank));
  }
}

}  // namespace fab::collectives
