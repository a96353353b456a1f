// Barrier in one step: every rank sends to every other one, P - 1 messages. Rank counts: any. Where ranks share
// processors it takes each rank off its processor once, and dissemination in every step.
#include "collectives/calls/call.h"

namespace fab::collectives {

void barrier_direct(ScheduleBuilder& builder, const CollectiveCall& call) {
  for (int distance = 1; distance < call.ranks; ++distance) {
    builder.recv((call.rank - distance + call.ranks) % call.ranks, 0, {});
    builder.send((call.rank + distance) % call.ranks, 0, {});
  }
}

}  // namespace fab::collectives
