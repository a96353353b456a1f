// Broadcast of long vectors: the root scatters P parts along a binomial tree, then the parts go round a ring (Barnett,
// Gupta, Payne, Shuler, van de Geijn, Watts, Interprocessor Collective Communication Library, 1994). Rank counts: any.
// In step k of the ring relative rank i sends part i - k to i + 1; P - 1 steps. Parts that a rank has from the scatter
// are not sent to it again, and to the root none at all.
#include "collectives/building_blocks/tree.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

void bcast_scatter_allgather(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const int self = call.relative();
  const Tree tree = binomial_tree(self, ranks);
  const auto absolute = [&](int relative) { return (relative + call.root) % ranks; };
  const Vector data = tree.parent ? room_for(builder, call.output()) : packed(builder, call.output());
  const Partition parts(call.bytes, 1, ranks);
  const auto subtree = [&](int relative) { return parts.of(data, relative, binomial_size(relative, ranks)); };

  if (tree.parent) {
    builder.recv(absolute(*tree.parent), 0, subtree(self));
    builder.round();
  }
  for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child)
    builder.send(absolute(*child), 0, subtree(*child));
  builder.round();

  const auto pass = [&](int part, int to, int step, auto&& post) {
    const bool has_it = part >= to && part < to + binomial_size(to, ranks);
    const Block block = parts.of(data, part);
    if (!has_it && block.layout.size() > 0) post(slot_of_step(step + 1), block);
  };
  const int next = (self + 1) % ranks;
  const int previous = (self - 1 + ranks) % ranks;
  const int filled = call.bytes < static_cast<std::size_t>(ranks) ? static_cast<int>(call.bytes) : ranks;
  for (int step = 0; step + 1 < ranks; ++step) {
    const int received = (previous - step + ranks) % ranks;
    const int sent = (self - step + ranks) % ranks;
    if (received >= filled && sent >= filled) {  // so is the rest of the parts without bytes
      step += received - filled;
      continue;
    }
    pass(received, self, step,
         [&](std::uint32_t slot, const Block& block) { builder.recv(absolute(previous), slot, block); });
    pass(sent, next, step, [&](std::uint32_t slot, const Block& block) { builder.send(absolute(next), slot, block); });
    builder.round();
  }
  if (tree.parent) unpack(builder, data, call.output());
}

}  // namespace fab::collectives
