// Allreduce of long vectors round a ring (Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms, 2009).
// Operations that commute; rank counts: any. In step k rank i sends part i - k to i + 1, and combines part i - k - 1
// that comes from i - 1 with its own; after P - 1 steps it has part i + 1 of the result, and the parts go round once
// more. 2 (P - 1) steps, 2 (1 - 1/P) vectors sent by each rank.
#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

void allreduce_ring(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const int next = (call.rank + 1) % ranks;
  const int previous = (call.rank - 1 + ranks) % ranks;
  const Partition parts(call.bytes, call.operation.element_bytes, ranks);
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  const bool in_result = own == result;
  const Vector received = in_result ? scratch_vector(builder, parts.begin(1)) : result;  // part 0 is a longest one
  const auto part = [&](int i) { return ((i % ranks) + ranks) % ranks; };
  const auto pass = [&](int step, const Block& to_next, const Block& from_previous) {
    if (from_previous.layout.size() > 0) builder.recv(previous, slot_of_step(step), from_previous);
    if (to_next.layout.size() > 0) builder.send(next, slot_of_step(step), to_next);
    builder.round();
  };

  for (int step = 0; step + 1 < ranks; ++step) {
    const Block mine = parts.of(own, part(call.rank - step - 1));
    const Block into = parts.of(result, part(call.rank - step - 1));
    const Block come = in_result ? received.part(0, mine.layout.size()) : into;
    pass(step, parts.of(step == 0 ? own : result, part(call.rank - step)), come);
    builder.reduce(call.operation.reduction, call.operation.element_bytes, in_result ? come : mine, into);
    builder.round();
  }
  for (int step = 0; step + 1 < ranks; ++step)
    pass(ranks - 1 + step, parts.of(result, part(call.rank + 1 - step)), parts.of(result, part(call.rank - step)));
  if (ranks == 1 && !in_result) builder.copy(own.block(), result.block());
  builder.round();
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
