// Reduce-scatter in one step: every rank sends to each other rank that rank's part, and combines P versions of its own
// in the order of ranks. Any operation; rank counts: any. P - 1 messages, 1 - 1/P vectors sent by each rank.
#include "collectives/building_blocks/combined_parts.h"
#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

void reduce_scatter_direct(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Parts parts(call);
  const Vector own = packed(builder, call.input());
  // In place, the result lies where the part of another rank does.
  const Vector result =
      call.in_place ? scratch_vector(builder, parts.bytes(call.rank)) : room_for(builder, call.output());
  CombinedParts(builder, call, parts, own).combine_to(result);
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
