// Gather of several nodes (Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, Exploiting Hierarchy in Parallel
// Computer Networks to Optimize Collective Operation Performance, 2000). The blocks of a node come to its leader, then
// the N leaders do a gather of what their nodes have to the root, which leads its node. N - 1 messages between nodes:
// every node but the root's sends one. The rules choose the algorithm of both steps.
#include "collectives/building_blocks/gathered.h"
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

namespace {

/// The blocks of this rank's node, which only its leader gets: where they belong, or in scratch.
void gather_in_node(ScheduleBuilder& builder, const Levels& levels, const CollectiveCall& call, const Vector& room) {
  const bool is_root = call.rank == call.root;
  const Layout block = Layout::contiguous(call.bytes);
  const std::vector<BlockView> places =
      is_root ? each_of_node(call.recv, levels.map(), levels.node()) : std::vector<BlockView>{};
  levels.within(builder).perform(
      {.collective = Collective::gather,
       .root = levels.leader(),
       .in_place = call.in_place,
       .bytes = call.bytes,
       .send = call.send,
       .recv = is_root ? BlockList::views(places)
                       : BlockList::regular(block, 1, static_cast<std::size_t>(levels.node_size()))},
      {BufferId::send, 0}, is_root ? PartPlace::Begin{BufferId::recv, 0} : PartPlace::Begin{room.buffer, room.offset});
}

}  // namespace

void gather_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const bool is_root = call.rank == call.root;
  const std::size_t bytes = static_cast<std::size_t>(levels.node_size()) * call.bytes;
  const Vector of_node = levels.leads() && !is_root ? scratch_vector(builder, bytes) : Vector{};
  gather_in_node(builder, levels, call, of_node);
  if (!levels.leads()) return;
  const bool even = levels.map().smallest() == levels.map().largest();
  const Layout own = Layout::contiguous(bytes);
  const std::vector<BlockShape> places = is_root ? blocks_of_nodes(call.recv, levels.map()) : std::vector<BlockShape>{};
  levels.across(builder).perform({.collective = even ? Collective::gather : Collective::gatherv,
                                  .root = levels.root_node(),
                                  .in_place = is_root,
                                  .bytes = even ? bytes : kUnknownBytes,
                                  .send = BlockList::regular(own, 1, 1),
                                  .recv = BlockList::general(places)},
                                 {of_node.buffer, of_node.offset}, {BufferId::recv, 0});
}

}  // namespace fab::collectives
