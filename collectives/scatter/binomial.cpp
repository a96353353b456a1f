// Scatter along a binomial tree. Rank counts: any. Relative rank i receives the blocks of its subtree from i without
// its lowest bit, then sends those of the subtree of i + 2^k for all 2^k below that bit, the largest first; ceil(log2
// P) steps. The root sends from where blocks are, leaves receive to where they belong.
#include <algorithm>

#include "collectives/building_blocks/tree.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

void scatter_binomial(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int self = call.relative();
  const Tree tree = binomial_tree(self, call.ranks);
  const auto absolute = [&](int relative) { return (relative + call.root) % call.ranks; };
  const auto send_to_children = [&](auto&& blocks) {
    std::for_each(tree.children.rbegin(), tree.children.rend(), [&](int child) {
      builder.send(absolute(child), 0, blocks(child, binomial_size(child, call.ranks)));
    });
  };
  if (!tree.parent) {
    const auto blocks = [&](int relative, int count) {
      return call.send.range(BufferId::send, absolute(relative), count);
    };
    send_to_children(blocks);
    if (!call.in_place) builder.copy(blocks(0, 1), call.output());
    return;
  }
  if (tree.children.empty()) return builder.recv(absolute(*tree.parent), 0, call.output());
  const auto bytes_of = [&](int count) { return static_cast<std::size_t>(count) * call.bytes; };
  const Vector all = scratch_vector(builder, bytes_of(binomial_size(self, call.ranks)));
  builder.recv(absolute(*tree.parent), 0, all.block());
  builder.round();
  const auto blocks = [&](int relative, int count) { return all.part(bytes_of(relative - self), bytes_of(count)); };
  send_to_children(blocks);
  builder.copy(blocks(self, 1), call.output());
}

}  // namespace fab::collectives
