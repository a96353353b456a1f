// Allreduce in two steps: every rank combines its part of all vectors, in the order of ranks, and sends it to every
// other one. Any operation; rank counts: any. 2 (P - 1) messages, 2 (1 - 1/P) vectors sent by each rank: for ranks that
// share memory, where one copy serves all receivers of a part.
#include "collectives/building_blocks/combined_parts.h"

namespace fab::collectives {

void allreduce_split(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Partition parts(call.bytes, call.operation.element_bytes, call.ranks);
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  const Block mine = parts.of(result, call.rank);
  CombinedParts(builder, call, parts, own).combine_to({mine.buffer, mine.offset, mine.layout.size()});
  builder.round();
  for (int distance = 1; distance < call.ranks; ++distance) {
    const Rank from = (call.rank - distance + call.ranks) % call.ranks;
    const Block part = parts.of(result, from);
    if (part.layout.size() > 0) builder.recv(from, 1, part);
    if (mine.layout.size() > 0) builder.send((call.rank + distance) % call.ranks, 1, mine);
  }
  builder.round();
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
