// Broadcast of several nodes (Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, Exploiting Hierarchy in Parallel
// Computer Networks to Optimize Collective Operation Performance, 2000). The root, which leads its node, and the
// leaders of the other N - 1 nodes do a broadcast, then each leader does one within its node. Along a tree every node
// but the root's receives the vector once: N - 1 messages between nodes. The rules choose the algorithm of both steps.
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

void bcast_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const bool is_root = call.rank == call.root;
  const Vector data = is_root ? packed(builder, call.output()) : room_for(builder, call.output());
  if (levels.leads()) levels.across(builder).bcast(levels.root_node(), data);
  levels.within(builder).bcast(levels.leader(), data);
  if (!is_root) unpack(builder, data, call.output());
}

}  // namespace fab::collectives
