// Inclusive prefixes along a chain, in segments. Any operation; rank counts: any. Rank i combines what comes from i - 1
// with its own and sends it to i + 1; P - 1 steps more than there are segments.
#include "collectives/building_blocks/accumulator.h"

namespace fab::collectives {

void scan_linear(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  Accumulator prefix(builder, call, own, result);
  builder.begin_pipeline(call.bytes, call.operation.element_bytes);
  if (call.rank > 0) {
    builder.recv(call.rank - 1, 0, prefix.room().block());
    builder.round();
    prefix.combine(true);
    builder.round();
  }
  if (call.rank + 1 < call.ranks) builder.send(call.rank + 1, 0, prefix.value().block());
  prefix.finish();
  builder.end_pipeline();
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
