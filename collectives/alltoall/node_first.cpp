// All-to-all of short equal blocks on several nodes (Traff, Rougier, MPI Collectives and Datatypes for Hierarchical
// All-to-all Communication, 2014). A rank has an index in its node, and carries for the ranks of that index on all N
// nodes; in a node of m ranks, where others have more, also for those of the indices m, 2m and so on above. First each
// rank gives its blocks to the ranks of its own node that carry them. Then each carrier sends to each rank that it
// carries for one message, with the blocks of all ranks of its node. Between nodes go P (N - 1) messages of m blocks;
// of single blocks there would be m times as many. Where nodes are equal both steps are all-to-alls of equal blocks, so
// an algorithm that passes blocks on may send fewer. The rules choose the algorithm of both steps.
#include <vector>

#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

namespace {

/// What a rank carries to other nodes for the ranks of its own: the blocks for all ranks of certain indices, by index
/// and then by node.
class Carried {
 public:
  Carried(const core::NodeMap& map, int node_size, int index) : map_(map) {
    for (int carried = index; carried < map.largest(); carried += node_size) indices_.push_back(carried);
  }

  [[nodiscard]] const std::vector<int>& indices() const noexcept { return indices_; }
  /// Calls `each(node, index)`, in order.
  template <class Each>
  void for_each(Each&& each) const {
    for (const int index : indices_)
      for (int node = 0; node < map_.nodes(); ++node)
        if (index < map_.size_of(node)) each(node, index);
  }
  [[nodiscard]] std::size_t blocks() const {
    std::size_t count = 0;
    for_each([&](int, int) { ++count; });
    return count;
  }
  [[nodiscard]] BlockShape of(const BlockList& blocks) const {
    std::vector<Layout::Field> fields;
    for_each([&](int node, int index) {
      const BlockView block = blocks[static_cast<std::size_t>(map_.rank_of(node, index))];
      fields.push_back({block.count, block.offset, *block.element});
    });
    return {0, Layout::structure(fields)};
  }

 private:
  const core::NodeMap& map_;
  std::vector<int> indices_;
};

class NodeFirst {
 public:
  NodeFirst(ScheduleBuilder& builder, const CollectiveCall& call)
      : builder_(builder),
        call_(call),
        levels_(call),
        even_(levels_.map().smallest() == levels_.map().largest()),
        carried_(levels_.map(), levels_.node_size(), levels_.index()),
        room_(scratch_vector(builder, static_cast<std::size_t>(levels_.node_size()) * from_one())) {}

  void build() {
    within_node();
    for (const int index : carried_.indices()) between_nodes(index);
  }

 private:
  /// Bytes of what each rank of the node has of what this one carries.
  [[nodiscard]] std::size_t from_one() const { return carried_.blocks() * call_.bytes; }

  void within_node() {
    std::vector<BlockShape> sent;
    for (int index = 0; index < levels_.node_size(); ++index)
      sent.push_back(Carried(levels_.map(), levels_.node_size(), index).of(call_.in_place ? call_.recv : call_.send));
    const Layout received = Layout::contiguous(from_one());
    levels_.within(builder_).perform(
        step(from_one(), BlockList::general(sent),
             BlockList::regular(received, 1, static_cast<std::size_t>(levels_.node_size()))),
        {call_.in_place ? BufferId::recv : BufferId::send, 0}, {room_.buffer, room_.offset});
  }

  /// Ranks that carry for several indices take them in the order of all, so none waits for another in a circle.
  void between_nodes(int index) {
    const auto nodes = static_cast<std::size_t>(levels_.map().nodes());
    const std::vector<BlockShape> received =
        index == levels_.index() ? blocks_of_nodes(call_.recv, levels_.map()) : std::vector<BlockShape>(nodes);
    const std::vector<BlockShape> sent = sent_for(index);
    levels_.across(builder_, [index](int size) { return index % size; })
        .perform(step(static_cast<std::size_t>(levels_.node_size()) * call_.bytes, BlockList::general(sent),
                      BlockList::general(received)),
                 {room_.buffer, room_.offset}, {BufferId::recv, 0});
  }

  /// By nodes: what all ranks of this one have for the rank of that index.
  [[nodiscard]] std::vector<BlockShape> sent_for(int sent_index) const {
    const auto stride = static_cast<std::ptrdiff_t>(from_one());
    const Layout column =
        Layout::vector(static_cast<std::size_t>(levels_.node_size()), 1, stride, Layout::contiguous(call_.bytes));
    std::vector<BlockShape> result(static_cast<std::size_t>(levels_.map().nodes()));
    std::ptrdiff_t offset = 0;
    carried_.for_each([&](int node, int index) {
      if (index == sent_index) result[static_cast<std::size_t>(node)] = {offset, column};
      offset += static_cast<std::ptrdiff_t>(call_.bytes);
    });
    return result;
  }

  [[nodiscard]] CollectiveCall step(std::size_t bytes, const BlockList& send, const BlockList& recv) const {
    return {.collective = even_ ? Collective::alltoall : Collective::alltoallv,
            .bytes = even_ ? bytes : kUnknownBytes,
            .send = send,
            .recv = recv};
  }

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  const Levels levels_;
  const bool even_;
  const Carried carried_;
  const Vector room_;
};

}  // namespace

void alltoall_node_first(ScheduleBuilder& builder, const CollectiveCall& call) { NodeFirst(builder, call).build(); }

}  // namespace fab::collectives
