// Allreduce of several nodes, for short vectors (Zhu, Goodell, Gropp, Thakur, Hierarchical Collectives in MPICH2,
// 2009). Each node reduces to its lowest rank, the N leaders do an allreduce, each leader does a broadcast within its
// node. Operations that do not commute need consecutive ranks on each node. Between nodes go only the messages of the
// leaders' allreduce: log2 N vectors from each node by recursive doubling. The rules choose the algorithm of each step.
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

void allreduce_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  Subgroup within = levels.within(builder);
  if (levels.node_size() > 1) within.reduce(levels.leader(), own, result);
  if (levels.leads()) levels.across(builder).allreduce(levels.node_size() > 1 ? result : own, result);
  if (levels.node_size() > 1) within.bcast(levels.leader(), result);
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
