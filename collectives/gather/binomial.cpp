// Gather along a binomial tree. Rank counts: any. Relative rank i receives the blocks of the subtree of i + 2^k for all
// 2^k below its own lowest bit, then sends those of its own subtree to i without that bit; ceil(log2 P) steps. The root
// receives to where blocks belong, leaves send from where they are.
#include "collectives/building_blocks/gathered.h"
#include "collectives/building_blocks/tree.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

void gather_binomial(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int self = call.relative();
  const Tree tree = binomial_tree(self, call.ranks);
  const auto absolute = [&](int relative) { return (relative + call.root) % call.ranks; };
  if (!tree.parent) {
    const Gathered blocks(builder, call);
    for (const int child : tree.children)
      builder.recv(absolute(child), 0, blocks.room(absolute(child), binomial_size(child, call.ranks)));
    return;
  }
  if (tree.children.empty()) return builder.send(absolute(*tree.parent), 0, own_block(call));
  const auto bytes_of = [&](int count) { return static_cast<std::size_t>(count) * call.bytes; };
  const Vector all = scratch_vector(builder, bytes_of(binomial_size(self, call.ranks)));
  for (const int child : tree.children)
    builder.recv(absolute(child), 0, all.part(bytes_of(child - self), bytes_of(binomial_size(child, call.ranks))));
  builder.copy(own_block(call), all.part(0, call.bytes));
  builder.round();
  builder.send(absolute(*tree.parent), 0, all.block());
}

}  // namespace fab::collectives
