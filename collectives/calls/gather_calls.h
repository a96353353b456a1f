// The calls that collect blocks from all ranks, or distribute blocks to them.
#pragma once

#include "collectives/calls/call.h"

namespace fab::collectives {

/// As in CollectiveCall. One side is this rank's own block, a list of one; the other one has a block of each rank.
struct GatherArguments {
  Collective collective;
  Rank rank;
  int ranks;
  Rank root = 0;
  bool in_place = false;
  const BlockList& send;
  const BlockList& recv;
};

/// A gather, scatter, allgather or one of their v-forms. What only the root has is ignored on other ranks; in place
/// this rank's own block is in the list, and the other side is ignored. Of calls without a v all blocks have the same
/// size, and the first one stands for all. Throws Error(invalid_argument) for another number of blocks, or a call in
/// place on a rank that does not have all blocks, and Error(invalid_count) when this rank's own block has another size
/// than its place in the list.
[[nodiscard]] CollectiveCall gather_call(const GatherArguments& its);

}  // namespace fab::collectives
