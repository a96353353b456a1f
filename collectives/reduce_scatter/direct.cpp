// Reduce-scatter in one step: every rank sends to each other rank that rank's part, and combines P versions of its own
// in the order of ranks. Any operation; rank counts: any. P - 1 messages, 1 - 1/P vectors sent by each rank.
#include "collectives/building_blocks/combined_parts.h"
#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

void reduce_scatter_direct(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Parts parts(call);
  const Vector own = packed(builder, call.input());
  // The result may lie where a part of the vector does: in place, and in a step of another algorithm.
  const Vector result = scratch_vector(builder, parts.bytes(call.rank));
  CombinedParts(builder, call, parts, own).combine_to(result);
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
