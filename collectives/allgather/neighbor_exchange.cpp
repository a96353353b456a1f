// Allgather by neighbour exchange (Chen, Zhang, Zhang, Yuan, Performance Evaluation of Allgather Algorithms on
// Terascale Linux Cluster with Fast Ethernet, 2005). Rank counts: even. Ranks 2j and 2j + 1 exchange their blocks, then
// each exchanges pairs of blocks with one neighbour and the other in turn, always the pair that came last; P / 2 steps.
#include "collectives/building_blocks/gathered.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

void allgather_neighbor_exchange(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const int pairs = ranks / 2;
  const int sign = call.rank % 2 == 0 ? 1 : -1;  // odd ranks are a mirror of even ones
  const Gathered blocks(builder, call);
  /// The first block of the pair that comes in a step.
  const auto pair = [&](int step) {
    const int distance = step % 2 == 0 ? step / 2 : -(step + 1) / 2;
    return 2 * ((call.rank / 2 + sign * distance + pairs) % pairs);
  };
  for (int step = 0; step < pairs; ++step) {
    const Rank peer = (call.rank + (step % 2 == 0 ? sign : -sign) + ranks) % ranks;
    if (step == 0) {
      builder.recv(peer, 0, blocks.room(peer));
      builder.send(peer, 0, blocks.held(call.rank));
    } else {
      builder.recv(peer, slot_of_step(step), blocks.room(pair(step), 2));
      builder.send(peer, slot_of_step(step), blocks.held(pair(step - 1), 2));
    }
    builder.round();
  }
}

}  // namespace fab::collectives
