// Allgather by dissemination (Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications
// in Multiport Message-Passing Systems, 1997). Rank counts: any. In step k rank i sends the blocks from i on that it
// has, 2^k or what is left, to i - 2^k and receives as many from i + 2^k; ceil(log2 P) steps. Blocks lie in their
// places at once, those of a message in two pieces at most where blocks are contiguous.
#include <algorithm>

#include "collectives/building_blocks/gathered.h"

namespace fab::collectives {

void allgather_bruck(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const Gathered blocks(builder, call);
  for (int distance = 1, count = 1; distance < ranks; distance += count) {
    count = std::min(distance, ranks - distance);
    const Rank from = static_cast<Rank>((std::int64_t{call.rank} + distance) % ranks);
    builder.recv(from, 0, blocks.room(from, count));
    builder.send((call.rank - distance + ranks) % ranks, 0, blocks.held(call.rank, count));
    builder.round();
  }
}

}  // namespace fab::collectives
