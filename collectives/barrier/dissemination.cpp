// Barrier by dissemination (Hensgen, Finkel, Manber, 1988; as LibNBC has it). Rank counts: any. In step k rank i sends
// to i + 2^k and receives from i - 2^k; ceil(log2 P) steps.
#include "collectives/calls/call.h"

namespace fab::collectives {

void barrier_dissemination(ScheduleBuilder& builder, const CollectiveCall& call) {
  std::uint32_t slot = 0;
  for (std::int64_t distance = 1; distance < call.ranks; distance *= 2, ++slot) {
    builder.recv(static_cast<Rank>((call.rank - distance + call.ranks) % call.ranks), slot, {});
    builder.send(static_cast<Rank>((call.rank + distance) % call.ranks), slot, {});
    builder.round();
  }
}

}  // namespace fab::collectives
