// Allreduce of long vectors (Rabenseifner, Optimization of Collective Reduction Operations, 2004): recursive halving
// leaves each rank with one part of the result, recursive doubling collects them. Operations that commute; rank counts:
// any, others than powers of two in two steps more (fold.h). 2 log2 P steps, 2 (1 - 1/P) vectors sent by each rank.
#include "collectives/building_blocks/halving.h"

namespace fab::collectives {

void allreduce_rabenseifner(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Fold fold(call.ranks);
  const auto partner = fold.partner(call.rank);
  const Partition parts(call.bytes, call.operation.element_bytes, fold.size());
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  Accumulator accumulator(builder, call, own, result);
  const auto same = [](int rank) { return rank; };
  reduce_scatter_halving(builder, fold, call.rank, parts, accumulator, same);
  const auto unfold = static_cast<std::uint32_t>(HalvingSlot::unfold);
  if (fold.drops(call.rank)) {
    builder.round();
    builder.recv(*partner, unfold, result.block());
    builder.round();
    return unpack(builder, result, call.output());
  }
  accumulator.finish();  // a copy where one rank stays alone
  builder.round();
  const auto steps = halving_steps(fold.number(call.rank), fold.size());
  const auto collect = static_cast<std::uint32_t>(HalvingSlot::collect);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Rank peer = fold.rank(step->partner);
    builder.recv(peer, collect, parts.of(result, step->given, step->count));
    builder.send(peer, collect, parts.of(result, step->first, step->count));
    builder.round();
  }
  if (partner) builder.send(*partner, unfold, result.block());
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
