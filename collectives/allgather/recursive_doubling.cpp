// Allgather by recursive doubling (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in
// MPICH, 2005). Rank counts: powers of two. In step k rank i and the rank that differs in bit k exchange the 2^k blocks
// that each has; log2 P steps.
#include "collectives/building_blocks/gathered.h"

namespace fab::collectives {

void allgather_recursive_doubling(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Gathered blocks(builder, call);
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const Rank peer = call.rank ^ bit;
    const int first = call.rank & ~(bit - 1);
    builder.recv(peer, 0, blocks.room(first ^ bit, bit));
    builder.send(peer, 0, blocks.held(first, bit));
    builder.round();
  }
}

}  // namespace fab::collectives
