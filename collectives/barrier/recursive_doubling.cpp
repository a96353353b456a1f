// Barrier by recursive doubling. Rank counts: any, others than powers of two in two steps more (fold.h). In step k
// number i exchanges with the number that differs in bit k; log2 P steps.
#include "collectives/building_blocks/fold.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

void barrier_recursive_doubling(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Fold fold(call.ranks);
  const auto partner = fold.partner(call.rank);
  if (fold.drops(call.rank)) {
    builder.send(*partner, 0, {});
    builder.recv(*partner, 0, {});
    return;
  }
  if (partner) {
    builder.recv(*partner, 0, {});
    builder.round();
  }
  for (int bit = 1; bit < fold.size(); bit *= 2) {
    const Rank peer = fold.rank(fold.number(call.rank) ^ bit);
    builder.recv(peer, 0, {});
    builder.send(peer, 0, {});
    builder.round();
  }
  if (partner) builder.send(*partner, 0, {});
}

}  // namespace fab::collectives
