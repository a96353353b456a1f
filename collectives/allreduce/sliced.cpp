// Allreduce of several nodes, for long vectors (Bayatpour, Chakraborty, Subramoni, Lu, Panda, Scalable Reduction
// Collectives with Data Partitioning-based Multi-Leader Design, 2017, with all ranks for leaders). Nodes have m ranks
// each. A reduce-scatter within the node leaves each rank with one of m slices of what the node has; the ranks of one
// index on all N nodes do an allreduce of their slice; an allgather within the node collects the slices. Operations
// that do not commute need consecutive ranks on each node. Between nodes go m allreduces of 1/m of the vector on N
// ranks: 2 (1 - 1/N) vectors from each node. The rules choose the algorithm of each step.
#include <vector>

#include "collectives/levels.h"

namespace fab::collectives {

namespace {

/// The slices of a node's ranks.
class Slices {
 public:
  Slices(const CollectiveCall& call, int count)
      : call_(call), partition_(call.bytes, call.operation.element_bytes, count) {
    for (int i = 0; i < count; ++i) {
      first_elements_.push_back(partition_.begin(i) / element_.size());
      elements_.push_back(partition_.begin(i + 1) / element_.size() - first_elements_.back());
    }
  }

  [[nodiscard]] Vector of(const Vector& vector, int index) const {
    const Block slice = partition_.of(vector, index);
    return {slice.buffer, slice.offset, slice.layout.size()};
  }
  [[nodiscard]] CollectiveCall reduce_scatter(int self) const {
    return {.collective = Collective::reduce_scatter,
            .bytes = call_.bytes,
            .send = BlockList::regular(element_, call_.bytes / element_.size(), 1),
            .recv = BlockList::regular(element_, elements_[static_cast<std::size_t>(self)], 1),
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
  const Partition partition_;
  Layout element_ = Layout::contiguous(call_.operation.element_bytes);
  std::vector<std::size_t> elements_;
  std::vector<std::size_t> first_elements_;
};

}  // namespace

void allreduce_sliced(ScheduleBuilder& builder, const CollectiveCall& call) {
  const Levels levels(call);
  const Vector own = packed(builder, call.input());
  const Vector result = room_for(builder, call.output());
  const Slices slices(call, levels.node_size());
  const Vector slice = slices.of(result, levels.index());
  Subgroup within = levels.within(builder);
  within.perform(slices.reduce_scatter(levels.index()), {own.buffer, own.offset}, {slice.buffer, slice.offset});
  levels.across_of_index(builder).allreduce(slice, slice);
  within.perform(slices.allgather(), {}, {result.buffer, result.offset});
  unpack(builder, result, call.output());
}

}  // namespace fab::collectives
