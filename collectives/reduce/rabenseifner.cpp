// Reduction of long vectors (Rabenseifner, Optimization of Collective Reduction Operations, 2004): recursive halving
// leaves each rank with one part of the result, which a binomial tree brings to the root. Operations that commute; rank
// counts: any, others than powers of two in one step more (fold.h). 2 log2 P steps, 2 (1 - 1/P) vectors sent by each
// rank at most.
#include "collectives/building_blocks/halving.h"

namespace fab::collectives {

void reduce_rabenseifner(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Fold fold(call.ranks);
  const int self = call.relative();
  const auto absolute = [&](int relative) { return (relative + call.root) % call.ranks; };
  const bool is_root = self == 0;
  const Partition parts(call.bytes, call.operation.element_bytes, fold.size());
  const Vector own = packed(builder, call.input());
  const bool passes_on = fold.drops(self);
  const Vector result = is_root     ? room_for(builder, call.output())
                        : passes_on ? own
                                    : scratch_vector(builder, call.bytes);
  Accumulator accumulator(builder, call, own, result);
  reduce_scatter_halving(builder, fold, self, parts, accumulator, absolute);
  if (passes_on) return;

  // Backwards: the rank that kept the upper half of a step sends it, and all that came to it since, down.
  const auto steps = halving_steps(fold.number(self), fold.size());
  const auto slot = static_cast<std::uint32_t>(HalvingSlot::collect);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Rank peer = absolute(fold.rank(step->partner));
    if (step->first > step->given)
      return builder.send(peer, slot, parts.of(accumulator.value(), step->first, step->count));
    builder.recv(peer, slot, parts.of(accumulator.value(), step->given, step->count));
    builder.round();
  }
  accumulator.finish();
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
