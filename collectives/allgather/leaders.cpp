// Allgather of several nodes (Traff, Efficient Allgather for Regular SMP-Clusters, 2006, without his pipeline). The
// blocks of a node come to its lowest rank, the N leaders do an allgather of what their nodes have, each leader does a
// broadcast of all blocks within its node. Blocks and nodes may differ in size. Between nodes go only the messages of
// the leaders' allgather: ceil(log2 N) from each node by dissemination. The rules choose the algorithm of each step.
#include "collectives/building_blocks/gathered.h"
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

namespace {

void gather_in_node(const Levels& levels, Subgroup& within, const CollectiveCall& call) {
  const Block own = own_block(call);
  const std::vector<BlockShape> sent{{0, own.layout}};
  const std::vector<BlockView> received = each_of_node(call.recv, levels.map(), levels.node());
  const bool equal = call.collective == Collective::allgather;
  within.perform({.collective = equal ? Collective::gather : Collective::gatherv,
                  .root = levels.leader(),
                  .in_place = call.in_place && levels.leads(),
                  .bytes = equal ? call.bytes : kUnknownBytes,
                  .send = BlockList::general(sent),
                  .recv = BlockList::views(received)},
                 {own.buffer, own.offset}, {BufferId::recv, 0});
}

void exchange_nodes(ScheduleBuilder& builder, const Levels& levels, const CollectiveCall& call, std::size_t all_bytes) {
  const std::vector<BlockShape> blocks = blocks_of_nodes(call.recv, levels.map());
  levels.across(builder).perform(
      {.collective = Collective::allgatherv, .in_place = true, .bytes = all_bytes, .recv = BlockList::general(blocks)},
      {}, {BufferId::recv, 0});
}

}  // namespace

void allgather_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  Subgroup within = levels.within(builder);
  const Block all = call.recv.range(BufferId::recv, 0, call.ranks);
  gather_in_node(levels, within, call);
  if (levels.leads()) exchange_nodes(builder, levels, call, all.layout.size());
  if (levels.node_size() == 1) return;
  const Vector data = levels.leads() ? packed(builder, all) : room_for(builder, all);
  within.bcast(levels.leader(), data);
  if (!levels.leads()) unpack(builder, data, all);
}

}  // namespace fab::collectives
