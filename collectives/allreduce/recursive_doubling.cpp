// Allreduce by recursive doubling. Any operation; rank counts: any, others than powers of two in two steps more
// (fold.h). In step k number i exchanges its whole vector with the number that differs in bit k; log2 P steps.
#include "collectives/building_blocks/accumulator.h"
#include "collectives/building_blocks/fold.h"

namespace fab::collectives {

void allreduce_recursive_doubling(ScheduleBuilder& builder, const CollectiveCall& call) {
  constexpr std::uint32_t kFold = 0;
  constexpr std::uint32_t kExchange = 1;
  const Fold fold(call.ranks);
  const auto partner = fold.partner(call.rank);
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  if (fold.drops(call.rank)) {
    builder.send(*partner, kFold, own.block());
    builder.round();
    builder.recv(*partner, kFold, result.block());
    builder.round();
    return unpack(builder, result, call.output());
  }
  Accumulator accumulator(builder, call, own, result);
  if (partner) {
    builder.recv(*partner, kFold, accumulator.room().block());
    builder.round();
    accumulator.combine(false);
    builder.round();
  }
  const int self = fold.number(call.rank);
  for (int bit = 1; bit < fold.size(); bit *= 2) {
    const Rank peer = fold.rank(self ^ bit);
    builder.recv(peer, kExchange, accumulator.room().block());
    builder.send(peer, kExchange, accumulator.value().block());
    builder.round();
    accumulator.combine((self & bit) != 0);
    builder.round();
  }
  if (partner) builder.send(*partner, kFold, accumulator.value().block());
  accumulator.finish();
  builder.round();
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
