// Reduce-scatter as a reduction to rank 0 and a scatter, both along the binomial tree. Any operation; rank counts: any.
// 2 ceil(log2 P) steps.
#include "collectives/building_blocks/tree.h"
#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

void reduce_scatter_reduce_then_scatter(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Tree place = binomial_tree(call.rank, call.ranks);
  const Parts parts(call);
  const int size = binomial_size(call.rank, call.ranks);
  const std::size_t first = parts.begin(call.rank);
  const Vector own = packed(builder, call.input());
  const Vector subtree =
      size > 1 ? scratch_vector(builder, parts.bytes(call.rank, size)) : room_for(builder, call.output());
  reduce_along(binomial_tree, builder, call, own, place.parent ? Vector{} : subtree);

  if (place.parent && subtree.bytes > 0) builder.recv(*place.parent, 0, subtree.block());
  builder.round();
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    const std::size_t bytes = parts.bytes(*child, binomial_size(*child, call.ranks));
    if (bytes > 0) builder.send(*child, 0, subtree.part(parts.begin(*child) - first, bytes));
  }
  unpack(builder, {subtree.buffer, subtree.offset, parts.bytes(call.rank)}, call.output());
}

}  // namespace fab::collectives
