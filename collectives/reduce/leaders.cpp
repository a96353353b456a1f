// Reduction of several nodes: bcast/leaders.cpp backwards. Each node reduces to its leader, then the N leaders reduce
// to the root, which leads its node. Operations that do not commute need consecutive ranks on each node. Along a tree
// every node but the root's sends one vector: N - 1 messages between nodes, and one more where the operation does not
// commute and the root is not of node 0. The rules choose the algorithm of both steps.
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

void reduce_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const bool is_root = call.rank == call.root;
  const Vector own = packed(builder, call.input());
  const Vector result = is_root ? room_for(builder, call.output()) : Vector{};
  Vector of_node = own;
  if (levels.node_size() > 1) {
    if (levels.leads()) of_node = is_root ? result : scratch_vector(builder, call.bytes);
    levels.within(builder).reduce(levels.leader(), own, levels.leads() ? of_node : Vector{});
  }
  if (levels.leads()) levels.across(builder).reduce(levels.root_node(), of_node, result);
  if (is_root) unpack(builder, result, call.output());
}

}  // namespace fab::collectives
