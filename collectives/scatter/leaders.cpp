// Scatter of several nodes: gather/leaders.cpp backwards. The root, which leads its node, and the N - 1 other leaders
// do a scatter of what the ranks of their nodes get, then each leader does one within its node. N - 1 messages between
// nodes. The rules choose the algorithm of both steps.
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

namespace {

/// To `room`, of leaders; the root's blocks stay where they are.
void scatter_to_nodes(ScheduleBuilder& builder, const Levels& levels, const CollectiveCall& call, const Vector& room) {
  const bool is_root = call.rank == call.root;
  const bool even = levels.map().smallest() == levels.map().largest();
  const std::size_t bytes = static_cast<std::size_t>(levels.node_size()) * call.bytes;
  const Layout own = Layout::contiguous(bytes);
  const std::vector<BlockShape> blocks = is_root ? blocks_of_nodes(call.send, levels.map()) : std::vector<BlockShape>{};
  levels.across(builder).perform({.collective = even ? Collective::scatter : Collective::scatterv,
                                  .root = levels.root_node(),
                                  .in_place = is_root,
                                  .bytes = even ? bytes : kUnknownBytes,
                                  .send = BlockList::general(blocks),
                                  .recv = BlockList::regular(own, 1, 1)},
                                 {BufferId::send, 0}, {room.buffer, room.offset});
}

void scatter_in_node(ScheduleBuilder& builder, const Levels& levels, const CollectiveCall& call, const Vector& room) {
  const bool is_root = call.rank == call.root;
  const Layout block = Layout::contiguous(call.bytes);
  const std::vector<BlockView> blocks =
      is_root ? each_of_node(call.send, levels.map(), levels.node()) : std::vector<BlockView>{};
  levels.within(builder).perform(
      {.collective = Collective::scatter,
       .root = levels.leader(),
       .in_place = call.in_place,
       .bytes = call.bytes,
       .send = is_root ? BlockList::views(blocks)
                       : BlockList::regular(block, 1, static_cast<std::size_t>(levels.node_size())),
       .recv = call.recv},
      is_root ? PartPlace::Begin{BufferId::send, 0} : PartPlace::Begin{room.buffer, room.offset}, {BufferId::recv, 0});
}

}  // namespace

void scatter_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const bool keeps = levels.leads() && call.rank != call.root;
  const std::size_t bytes = static_cast<std::size_t>(levels.node_size()) * call.bytes;
  const Vector of_node = keeps ? scratch_vector(builder, bytes) : Vector{};
  if (levels.leads()) scatter_to_nodes(builder, levels, call, of_node);
  scatter_in_node(builder, levels, call, of_node);
}

}  // namespace fab::collectives
