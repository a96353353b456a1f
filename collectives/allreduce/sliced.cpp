// Allreduce of several nodes, for long vectors (Bayatpour, Chakraborty, Subramoni, Lu, Panda, Scalable Reduction
// Collectives with Data Partitioning-based Multi-Leader Design, 2017, with all ranks for leaders). The vector has as
// many slices as the largest node has ranks, and each rank of a node works for one, or for some that follow each other
// where the node has fewer ranks. A reduce-scatter within the node leaves each rank with its slices of what the node
// has; for each slice the ranks that work for it, one of each of the N nodes, do an allreduce; an allgather within the
// node collects the slices. Operations that do not commute need consecutive ranks on each node. Between nodes go the
// allreduces of all slices on N ranks each: 2 (1 - 1/N) vectors from each node, for slices that are long. The rules
// choose the algorithm of each step.
#include <vector>

#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

namespace {

/// Who works for which slices.
class Slices {
 public:
  Slices(const CollectiveCall& call, const Levels& levels)
      : call_(call),
        levels_(levels),
        count_(levels.map().largest()),
        partition_(call.bytes, call.operation.element_bytes, count_) {
    for (int index = 0; index < levels.node_size(); ++index) {
      first_elements_.push_back(partition_.begin(first(index)) / element_.size());
      elements_.push_back(partition_.begin(first(index + 1)) / element_.size() - first_elements_.back());
    }
  }

  /// A rank of this node works for slices [first(index), first(index + 1)).
  [[nodiscard]] int first(int index) const {
    return static_cast<int>(std::int64_t{index} * count_ / levels_.node_size());
  }
  /// The ranks that work for a slice, by their nodes.
  [[nodiscard]] Subgroup across(ScheduleBuilder& builder, int slice) const {
    const auto index_in = [count = count_, slice](int size) {
      return static_cast<int>(((slice + std::int64_t{1}) * size - 1) / count);
    };
    return levels_.across(builder, index_in, count_);
  }

  [[nodiscard]] Vector of(const Vector& vector, int slice, int count = 1) const {
    const Block block = partition_.of(vector, slice, count);
    return {block.buffer, block.offset, block.layout.size()};
  }
  [[nodiscard]] CollectiveCall reduce_scatter() const {
    return {.collective = Collective::reduce_scatter,
            .bytes = call_.bytes,
            .send = BlockList::regular(element_, call_.bytes / element_.size(), 1),
            .recv = BlockList::regular(element_, elements_[static_cast<std::size_t>(levels_.index())], 1),
            .counts = elements_,
            .operation = call_.operation};
  }
  [[nodiscard]] CollectiveCall allgather() const {
    return {.collective = Collective::allgatherv,
            .in_place = true,
            .bytes = call_.bytes,
            .recv = BlockList::irregular(element_, elements_, first_elements_)};
  }

 private:
  const CollectiveCall& call_;
  const Levels& levels_;
  const int count_;
  const Partition partition_;
  Layout element_ = Layout::contiguous(call_.operation.element_bytes);
  std::vector<std::size_t> elements_;  ///< of each rank of this node
  std::vector<std::size_t> first_elements_;
};

}  // namespace

// Ranks that work for several slices take them in the order of all, so none waits for another in a circle.
void allreduce_sliced(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  const Slices slices(call, levels);
  const int first = slices.first(levels.index());
  const int end = slices.first(levels.index() + 1);
  const Vector its = slices.of(result, first, end - first);
  Subgroup within = levels.within(builder);
  within.perform(slices.reduce_scatter(), {own.buffer, own.offset}, {its.buffer, its.offset});
  for (int slice = first; slice < end; ++slice) {
    const Vector part = slices.of(result, slice);
    slices.across(builder, slice).allreduce(part, part);
  }
  within.perform(slices.allgather(), {}, {result.buffer, result.offset});
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
