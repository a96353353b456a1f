// Barrier of several nodes (Zhu, Goodell, Gropp, Thakur, Hierarchical Collectives in MPICH2, 2009). The ranks of a node
// tell their lowest one, along a binomial tree; the N leaders do a barrier of their own; then the news goes down the
// tree. Between nodes go only the messages of the leaders' barrier, which the rules choose: ceil(log2 N) from each node
// by dissemination.
#include "collectives/building_blocks/tree.h"
#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

void barrier_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  constexpr std::uint32_t kUp = 0;
  constexpr std::uint32_t kDown = 1;
  const Levels levels(call);
  const Tree place = binomial_tree(levels.index(), levels.node_size());
  const auto rank_of = [&](int index) { return levels.map().rank_of(levels.node(), index); };
  for (const int child : place.children) builder.recv(rank_of(child), kUp, {});
  builder.round();
  if (place.parent) {
    builder.send(rank_of(*place.parent), kUp, {});
    builder.recv(rank_of(*place.parent), kDown, {});
    builder.round();
  } else {
    levels.across(builder).barrier();
  }
  for (const int child : place.children) builder.send(rank_of(child), kDown, {});
}

}  // namespace fab::collectives
