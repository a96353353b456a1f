// Reduction in two steps: every rank combines its part of all vectors, in the order of ranks, and sends it to the root.
// Any operation; rank counts: any. P messages and 1 vector sent by each rank at most; no rank combines more than one
// vector.
#include "collectives/building_blocks/combined_parts.h"

namespace fab::collectives {

void reduce_split(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Partition parts(call.bytes, call.operation.element_bytes, call.ranks);
  const bool is_root = call.rank == call.root;
  const Vector own = packed(builder, call.input());
  const Vector result = is_root ? room_for(builder, call.output()) : Vector{};
  const std::size_t bytes = parts.of(own, call.rank).layout.size();
  const Vector mine =
      is_root ? Vector{result.buffer, parts.of(result, call.rank).offset, bytes} : scratch_vector(builder, bytes);
  CombinedParts(builder, call, parts, own).combine_to(mine);
  builder.round();
  if (!is_root) {
    if (bytes > 0) builder.send(call.root, 1, mine.block());
    return;
  }
  for (Rank from = 0; from < call.ranks; ++from) {
    const Block part = parts.of(result, from);
    if (from != call.rank && part.layout.size() > 0) builder.recv(from, 1, part);
  }
  builder.round();
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
