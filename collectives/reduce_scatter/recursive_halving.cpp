// Reduce-scatter by recursive halving (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations
// in MPICH, 2005). Operations that commute; rank counts: any, others than powers of two in two steps more (fold.h). In
// each step a number exchanges half of what it has with the number that differs in one bit, the highest first; log2 P
// steps, 1 - 1/P vectors sent by each rank.
#include "collectives/building_blocks/halving.h"
#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

void reduce_scatter_recursive_halving(ScheduleBuilder& builder, const CollectiveCall& call) {
  constexpr auto kUnfold = static_cast<std::uint32_t>(HalvingSlot::unfold);
  const Fold fold(call.ranks);
  const auto partner = fold.partner(call.rank);
  const Parts parts(call);
  const Vector own = packed(builder, call.input());
  const bool drops = fold.drops(call.rank);
  Accumulator accumulator(builder, call, own, drops ? own : scratch_vector(builder, call.bytes));
  const auto same = [](int rank) { return rank; };
  reduce_scatter_halving(builder, fold, call.rank, parts.folded(fold), accumulator, same, HalvingOrder::far_first);
  if (drops) {
    builder.round();
    const Vector result = room_for(builder, call.output());
    builder.recv(*partner, kUnfold, result.block());
    builder.round();
    return unpack(builder, result, call.output());
  }
  if (partner) builder.send(*partner, kUnfold, parts.of(accumulator.value(), *partner));
  const Vector& value = accumulator.value();
  const auto first = static_cast<std::ptrdiff_t>(parts.begin(call.rank));
  unpack(builder, {value.buffer, value.offset + first, parts.bytes(call.rank)}, call.output());
}

}  // namespace fab::collectives
