// Allreduce in one step: every rank sends its vector to every other one, and combines all P in the order of ranks. Any
// operation; rank counts: any. P - 1 messages and combinations a rank, and room for as many vectors: for short ones
// among few ranks.
#include <vector>

#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

namespace {

/// Where each rank's vector is once the current round is over; the last one is in the result, unless that is sent.
std::vector<Vector> fetch_all(ScheduleBuilder& builder, const CollectiveCall& call, const Vector& own,
                              const Vector& result) {
  std::vector<Vector> vectors;
  for (Rank owner = 0; owner < call.ranks; ++owner) {
    const bool is_last = owner + 1 == call.ranks;
    vectors.push_back(is_last && own != result ? result : scratch_vector(builder, call.bytes));
    if (owner == call.rank)
      builder.copy(own.block(), vectors.back().block());
    else
      builder.recv(owner, 0, vectors.back().block());
  }
  return vectors;
}

}  // namespace

void allreduce_direct(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  const std::vector<Vector> vectors = fetch_all(builder, call, own, result);
  // Each rank begins with the next one, so that not all send to the same at once.
  for (int distance = 1; distance < call.ranks; ++distance)
    builder.send((call.rank + distance) % call.ranks, 0, own.block());
  builder.round();
  for (std::size_t i = 1; i < vectors.size(); ++i)
    builder.reduce(call.operation.reduction, call.operation.element_bytes, vectors[i - 1].block(), vectors[i].block());
  if (vectors.back() != result) builder.copy(vectors.back().block(), result.block());
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
