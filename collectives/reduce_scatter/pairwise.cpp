// Reduce-scatter by pairwise exchange. Any operation; rank counts: any. In step k rank i sends the part of rank i + k
// to it, and combines its own part that comes from i - k: first those of the lower ranks, downwards, with its own, then
// those of the higher ranks, downwards, with each other; at last the two results. P - 1 steps, 1 - 1/P vectors sent by
// each rank. A part is combined while the next one travels.
#include <array>

#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

void reduce_scatter_pairwise(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const Parts parts(call);
  const std::size_t bytes = parts.bytes(call.rank);
  const Vector own = packed(builder, call.input());
  const Vector lower = scratch_vector(builder, bytes);   // of ranks up to this one
  const Vector higher = scratch_vector(builder, bytes);  // of ranks above
  const std::array<Vector, 2> received{scratch_vector(builder, bytes), scratch_vector(builder, bytes)};
  const auto reduce = [&](const Vector& from, const Vector& into) {
    builder.reduce(call.operation.reduction, call.operation.element_bytes, from.block(), into.block());
  };

  builder.copy(parts.of(own, call.rank), lower.block());
  const int first_higher = call.rank + 1;  // the step that brings the first one
  for (int step = 1; step < ranks; ++step) {
    const int source = (call.rank - step + ranks) % ranks;
    const int target = (call.rank + step) % ranks;
    const Vector& room = step == first_higher ? higher : received[static_cast<std::size_t>(step % 2)];
    if (bytes > 0) builder.recv(source, 0, room.block());
    if (parts.bytes(target) > 0) builder.send(target, 0, parts.of(own, target));
    builder.round();
    if (step != first_higher) reduce(room, step < first_higher ? lower : higher);
  }
  if (first_higher < ranks) reduce(lower, higher);
  unpack(builder, first_higher < ranks ? higher : lower, call.output());
}

}  // namespace fab::collectives
