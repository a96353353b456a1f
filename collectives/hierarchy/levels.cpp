#include "collectives/hierarchy/levels.h"

#include <utility>

namespace fab::collectives {

Levels::Levels(const CollectiveCall& call)
    : call_(call),
      map_(*call.nodes),
      node_(map_.node_of(call.rank)),
      index_(map_.index_of(call.rank)),
      root_node_(map_.node_of(call.root)),
      leader_(node_ == root_node_ ? map_.index_of(call.root) : 0) {}

Subgroup Levels::within(ScheduleBuilder& builder) const {
  return {builder,
          call_,
          {.count = node_size(),
           .self = index_,
           .rank_of = [&map = map_, node = node_](int index) { return map.rank_of(node, index); },
           .one_node = true}};
}

// Node 0's lowest rank is 0, which stands for the root where there is none.
Subgroup Levels::across(ScheduleBuilder& builder) const {
  return {builder,
          call_,
          {.count = map_.nodes(),
           .self = node_,
           .rank_of = [&map = map_, root = call_.root, root_node = root_node_](int node) {
             return node == root_node ? root : map.lowest(node);
           }}};
}

Subgroup Levels::across(ScheduleBuilder& builder, std::function<int(int)> index_in, int at_once) const {
  auto rank_of = [&map = map_, index_in = std::move(index_in)](int node) {
    return map.rank_of(node, index_in(map.size_of(node)));
  };
  return {builder, call_, {.count = map_.nodes(), .self = node_, .rank_of = std::move(rank_of), .at_once = at_once}};
}

std::vector<BlockView> each_of_node(const BlockList& blocks, const core::NodeMap& map, int node) {
  std::vector<BlockView> result;
  for (const Rank rank : map.ranks_of(node)) result.push_back(blocks[static_cast<std::size_t>(rank)]);
  return result;
}

std::vector<BlockShape> blocks_of_nodes(const BlockList& blocks, const core::NodeMap& map) {
  std::vector<std::vector<Layout::Field>> fields(static_cast<std::size_t>(map.nodes()));
  for (Rank rank = 0; rank < map.ranks(); ++rank) {
    const BlockView block = blocks[static_cast<std::size_t>(rank)];
    fields[static_cast<std::size_t>(map.node_of(rank))].push_back({block.count, block.offset, *block.element});
  }
  std::vector<BlockShape> result;
  for (const auto& its : fields) result.push_back({0, Layout::structure(its)});
  return result;
}

}  // namespace fab::collectives
