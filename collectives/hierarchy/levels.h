// The two levels of a communicator of several nodes: the ranks of a node, and a leader of each node.
#pragma once

#include "collectives/hierarchy/subgroup.h"
#include "core/topology/node_map.h"

namespace fab::collectives {

/// Of a call with nodes, which outlives this. The lowest rank of a node leads it; the root, if there is one, its own.
class Levels {
 public:
  explicit Levels(const CollectiveCall& call);

  [[nodiscard]] const core::NodeMap& map() const noexcept { return map_; }
  /// This rank's.
  [[nodiscard]] int node() const noexcept { return node_; }
  [[nodiscard]] int node_size() const { return map_.size_of(node_); }
  [[nodiscard]] int index() const noexcept { return index_; }
  /// The leader's index in this rank's node.
  [[nodiscard]] int leader() const noexcept { return leader_; }
  [[nodiscard]] bool leads() const noexcept { return index_ == leader_; }
  [[nodiscard]] int root_node() const noexcept { return root_node_; }

  /// This rank's node; ranks are numbered by their index.
  [[nodiscard]] Subgroup within(ScheduleBuilder& builder) const;
  /// The leaders, numbered by their nodes. Of leaders.
  [[nodiscard]] Subgroup across(ScheduleBuilder& builder) const;
  /// A rank of each node, this one among them, numbered by their nodes: `index_in` has a node's size for argument.
  /// `at_once`: how many ranks of a node do the same.
  [[nodiscard]] Subgroup across(ScheduleBuilder& builder, std::function<int(int)> index_in, int at_once = 1) const;

 private:
  const CollectiveCall& call_;
  const core::NodeMap& map_;
  int node_;
  int index_;
  int root_node_;
  int leader_;
};

/// The blocks of each node's ranks as one, by their indices.
[[nodiscard]] std::vector<BlockShape> blocks_of_nodes(const BlockList& blocks, const core::NodeMap& map);
/// The blocks of a node's ranks one by one.
[[nodiscard]] std::vector<BlockView> each_of_node(const BlockList& blocks, const core::NodeMap& map, int node);

}  // namespace fab::collectives
