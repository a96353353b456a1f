// Reduce-scatter of several nodes, for short vectors. Each node reduces to its lowest rank, the N leaders do a
// reduce-scatter of the parts of their nodes, each leader scatters the parts of its ranks. Operations that do not
// commute need consecutive ranks on each node. Between nodes go only the messages of the leaders' reduce-scatter:
// log2 N from each node by recursive halving, with 1 - 1/N vectors. The rules choose the algorithm of each step.
#include <vector>

#include "collectives/hierarchy/levels.h"
#include "collectives/reduce_scatter/parts.h"

namespace fab::collectives {

namespace {

/// The parts of a vector, and the same by nodes.
class NodeParts {
 public:
  NodeParts(const CollectiveCall& call, const core::NodeMap& map) : call_(call), map_(map), parts_(call) {
    for (int node = 0; node < map.nodes(); ++node) {
      std::size_t bytes = 0;
      for (const Rank rank : map.ranks_of(node)) bytes += parts_.bytes(rank);
      elements_.push_back(bytes / element_.size());
    }
  }

  /// Of one node.
  [[nodiscard]] std::size_t bytes(int node) const {
    return elements_[static_cast<std::size_t>(node)] * element_.size();
  }
  /// The vector with the parts of each node together.
  [[nodiscard]] Vector by_nodes(ScheduleBuilder& builder, const Vector& vector) const {
    if (map_.consecutive()) return vector;
    std::vector<Layout::Field> fields;
    for (int node = 0; node < map_.nodes(); ++node)
      for (const Rank rank : map_.ranks_of(node))
        fields.push_back({1, static_cast<std::ptrdiff_t>(parts_.begin(rank)), Layout::contiguous(parts_.bytes(rank))});
    const Vector result = scratch_vector(builder, vector.bytes);
    builder.copy({vector.buffer, vector.offset, Layout::structure(fields)}, result.block());
    builder.round();
    return result;
  }
  /// Leaves each leader with the parts of its node.
  [[nodiscard]] CollectiveCall reduce_scatter(int node) const {
    return {.collective = Collective::reduce_scatter,
            .bytes = call_.bytes,
            .send = BlockList::regular(element_, call_.bytes / element_.size(), 1),
            .recv = BlockList::regular(element_, elements_[static_cast<std::size_t>(node)], 1),
            .counts = elements_,
            .operation = call_.operation};
  }
  /// The parts of a node's ranks in a vector that has no others.
  [[nodiscard]] std::vector<BlockShape> of_node(int node) const {
    std::vector<BlockShape> result;
    std::ptrdiff_t offset = 0;
    for (const Rank rank : map_.ranks_of(node)) {
      result.push_back({offset, Layout::contiguous(parts_.bytes(rank))});
      offset += static_cast<std::ptrdiff_t>(parts_.bytes(rank));
    }
    return result;
  }

 private:
  const CollectiveCall& call_;
  const core::NodeMap& map_;
  const Parts parts_;
  Layout element_ = Layout::contiguous(call_.operation.element_bytes);
  std::vector<std::size_t> elements_;
};

}  // namespace

void reduce_scatter_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const NodeParts parts(call, levels.map());
  const Vector own = packed(builder, call.input());
  Subgroup within = levels.within(builder);
  Vector of_node = own;
  if (levels.node_size() > 1) {
    if (levels.leads()) of_node = scratch_vector(builder, call.bytes);
    within.reduce(levels.leader(), own, levels.leads() ? of_node : Vector{});
  }
  const std::size_t bytes = levels.leads() ? parts.bytes(levels.node()) : 0;
  const Vector result = scratch_vector(builder, bytes);
  if (levels.leads()) {
    const Vector ordered = parts.by_nodes(builder, of_node);
    levels.across(builder).perform(parts.reduce_scatter(levels.node()), {ordered.buffer, ordered.offset},
                                   {result.buffer, result.offset});
  }
  const std::vector<BlockShape> each = parts.of_node(levels.node());
  const bool equal = call.counts.empty();
  within.perform({.collective = equal ? Collective::scatter : Collective::scatterv,
                  .root = levels.leader(),
                  .bytes = equal ? each.front().layout.size() : kUnknownBytes,
                  .send = BlockList::general(each),
                  .recv = call.recv},
                 {result.buffer, result.offset}, {BufferId::recv, 0});
}

}  // namespace fab::collectives
