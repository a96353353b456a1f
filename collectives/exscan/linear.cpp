// Exclusive prefixes along a chain, in segments. Any operation; rank counts: any. What comes to rank i from i - 1 is
// its result; combined with its own it goes to i + 1. P - 1 steps more than there are segments. Rank 0 receives
// nothing.
#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

void exscan_linear(ScheduleBuilder& builder, const CollectiveCall& call) {
  const bool receives = call.rank > 0;
  const bool sends = call.rank + 1 < call.ranks;
  const Vector own = packed(builder, call.input());
  const Vector result = receives ? room_for(builder, call.output()) : Vector{};
  const Vector inclusive = receives && sends ? scratch_vector(builder, call.bytes) : own;
  builder.begin_pipeline(call.bytes, call.operation.element_bytes);
  if (receives && sends) {  // before the result comes, which may take its place
    builder.copy(own.block(), inclusive.block());
    builder.round();
  }
  if (receives) {
    builder.recv(call.rank - 1, 0, result.block());
    builder.round();
  }
  if (receives && sends) {
    builder.reduce(call.operation.reduction, call.operation.element_bytes, result.block(), inclusive.block());
    builder.round();
  }
  if (sends) builder.send(call.rank + 1, 0, inclusive.block());
  builder.end_pipeline();
  if (receives) unpack(builder, result, call.output());
}

}  // namespace fab::collectives
