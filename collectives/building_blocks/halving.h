// Recursive halving: each step halves what a rank has and doubles for how many ranks that holds the result.
#pragma once

#include <vector>

#include "collectives/building_blocks/accumulator.h"
#include "collectives/building_blocks/fold.h"

namespace fab::collectives {

/// One step: the parts [first, first + count) are kept, as many at `given` go to the partner.
struct HalvingStep {
  int partner = 0;  ///< its number in the fold
  int first = 0;
  int given = 0;
  int count = 0;
};

/// Which numbers meet first: those that differ in the lowest bit, or in the highest one, so that number i keeps part i.
enum class HalvingOrder { near_first, far_first };

/// Each step pairs numbers that differ in one bit; whose bit is 0 keeps the lower half. Number 0 keeps part 0.
[[nodiscard]] std::vector<HalvingStep> halving_steps(int number, int size,
                                                     HalvingOrder order = HalvingOrder::near_first);

/// The slots of the messages of what uses halving, which may meet each other between two ranks.
enum class HalvingSlot : std::uint32_t { fold, halve, collect, unfold };

/// Combines the vectors of all ranks so that each number of the fold has one part of the result, as the accumulator's
/// value; takes dropped ranks in first. `absolute` makes a rank of one that the fold counts. The operation commutes.
template <class Parts, class Absolute>
void reduce_scatter_halving(ScheduleBuilder& builder, const Fold& fold, int self, const Parts& parts,
                            Accumulator& accumulator, Absolute absolute,
                            HalvingOrder order = HalvingOrder::near_first) {
  const auto slot = [](HalvingSlot which) { return static_cast<std::uint32_t>(which); };
  if (const auto partner = fold.partner(self)) {
    if (fold.drops(self)) return builder.send(absolute(*partner), slot(HalvingSlot::fold), accumulator.value().block());
    builder.recv(absolute(*partner), slot(HalvingSlot::fold), accumulator.room().block());
    builder.round();
    accumulator.combine(false);
    builder.round();
  }
  for (const HalvingStep& step : halving_steps(fold.number(self), fold.size(), order)) {
    const Rank peer = absolute(fold.rank(step.partner));
    builder.send(peer, slot(HalvingSlot::halve), parts.of(accumulator.value(), step.given, step.count));
    const Block kept = parts.of(accumulator.room(), step.first, step.count);
    builder.recv(peer, slot(HalvingSlot::halve), kept);
    builder.round();
    accumulator.combine(step.partner < fold.number(self), parts.begin(step.first), kept.layout.size());
    builder.round();
  }
}

}  // namespace fab::collectives
