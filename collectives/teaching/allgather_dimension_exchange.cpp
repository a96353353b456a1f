// Allgather by dimension exchange on a hypercube (Lang, Distributed-Memory Programming Models II). Rank counts: powers
// of two. In step k rank i and the rank that differs in bit k exchange the 2^k blocks that each has, the lower rank's
// first: no rank sends and receives at once. 2 log2 P steps.
#include "collectives/building_blocks/gathered.h"

namespace fab::collectives {

void allgather_dimension_exchange(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Gathered blocks(builder, call);
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const Rank peer = call.rank ^ bit;
    const int first = call.rank & ~(bit - 1);
    const auto send = [&] { builder.send(peer, 0, blocks.held(first, bit)); };
    const auto recv = [&] { builder.recv(peer, 0, blocks.room(first ^ bit, bit)); };
    call.rank < peer ? send() : recv();
    builder.round();
    call.rank < peer ? recv() : send();
    builder.round();
  }
}

}  // namespace fab::collectives
