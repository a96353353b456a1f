// Reduce-scatter round a ring. Operations that commute; rank counts: any. In step k rank i sends part i - 1 - k to
// i + 1, and combines part i - 2 - k that comes from i - 1 with its own; P - 1 steps, 1 - 1/P vectors sent by each
// rank.
#include <utility>

#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

void reduce_scatter_ring(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const int next = (call.rank + 1) % ranks;
  const int previous = (call.rank - 1 + ranks) % ranks;
  const Parts parts(call);
  const Vector own = packed(builder, call.input());
  const auto part = [&](int i) { return ((i % ranks) + ranks) % ranks; };
  Vector incoming = scratch_vector(builder, parts.longest());
  Vector carried = scratch_vector(builder, parts.longest());

  for (int step = 0; step + 1 < ranks; ++step) {
    const int sent = part(call.rank - 1 - step);
    const int received = part(call.rank - 2 - step);
    const Block into = incoming.part(0, parts.bytes(received));
    if (parts.bytes(received) > 0) builder.recv(previous, slot_of_step(step), into);
    if (parts.bytes(sent) > 0)
      builder.send(next, slot_of_step(step), step == 0 ? parts.of(own, sent) : carried.part(0, parts.bytes(sent)));
    builder.round();
    builder.reduce(call.operation.reduction, call.operation.element_bytes, parts.of(own, received), into);
    builder.round();
    std::swap(incoming, carried);
  }
  const std::size_t bytes = parts.bytes(call.rank);
  unpack(builder, ranks == 1 ? own : Vector{carried.buffer, carried.offset, bytes}, call.output());
}

}  // namespace fab::collectives
