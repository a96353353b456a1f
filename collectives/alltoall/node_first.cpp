// All-to-all of short equal blocks on several nodes (Traff, Rougier, MPI Collectives and Datatypes for Hierarchical
// All-to-all Communication, 2014). Nodes have m ranks each. Within a node, rank i gets what the node's ranks have for
// the ranks of index i on all N nodes; then the ranks of one index on all nodes exchange m blocks each. Between nodes
// go m all-to-alls on N ranks: P (N - 1) messages of m blocks where all pairs of ranks meet, m times fewer than in
// a flat one. The rules choose the algorithm of both steps.
#include <vector>

#include "collectives/levels.h"

namespace fab::collectives {

namespace {

/// The blocks of the ranks of one index, by their nodes, as one.
std::vector<BlockShape> blocks_of_indices(const BlockList& blocks, const core::NodeMap& map) {
  std::vector<std::vector<Layout::Field>> fields(static_cast<std::size_t>(map.largest()));
  for (int node = 0; node < map.nodes(); ++node) {
    std::size_t index = 0;
    for (const BlockView& block : each_of_node(blocks, map, node))
      fields[index++].push_back({block.count, block.offset, *block.element});
  }
  std::vector<BlockShape> result;
  for (const auto& its : fields) result.push_back({0, Layout::structure(its)});
  return result;
}

/// What the ranks of this node have for nodes, as it lies after the first step: by rank, then by node.
std::vector<BlockShape> blocks_for_nodes(const Levels& levels, std::size_t bytes) {
  const auto nodes = static_cast<std::size_t>(levels.map().nodes());
  const auto size = static_cast<std::size_t>(levels.node_size());
  const Layout column = Layout::vector(size, 1, static_cast<std::ptrdiff_t>(nodes * bytes), Layout::contiguous(bytes));
  std::vector<BlockShape> result;
  for (std::size_t node = 0; node < nodes; ++node)
    result.push_back({static_cast<std::ptrdiff_t>(node * bytes), column});
  return result;
}

}  // namespace

void alltoall_node_first(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const auto nodes = static_cast<std::size_t>(levels.map().nodes());
  const auto size = static_cast<std::size_t>(levels.node_size());
  const Layout from_one = Layout::contiguous(nodes * call.bytes);
  const Vector room = scratch_vector(builder, size * from_one.size());
  const std::vector<BlockShape> own = blocks_of_indices(call.in_place ? call.recv : call.send, levels.map());
  levels.within(builder).perform({.collective = Collective::alltoall,
                                  .bytes = from_one.size(),
                                  .send = BlockList::general(own),
                                  .recv = BlockList::regular(from_one, 1, size)},
                                 {call.in_place ? BufferId::recv : BufferId::send, 0}, {room.buffer, room.offset});
  const std::vector<BlockShape> sent = blocks_for_nodes(levels, call.bytes);
  const std::vector<BlockShape> received = blocks_of_nodes(call.recv, levels.map());
  levels.across(builder, [index = levels.index()](int) { return index; })
      .perform({.collective = Collective::alltoall,
                .bytes = size * call.bytes,
                .send = BlockList::general(sent),
                .recv = BlockList::general(received)},
               {room.buffer, room.offset}, {BufferId::recv, 0});
}

}  // namespace fab::collectives
