// Blocks as the collectives take them.
#pragma once

#include "collectives/block_list.h"
#include "fab/rank_blocks.h"

namespace fab::native {

/// Refers to what the blocks refer to.
[[nodiscard]] inline collectives::BlockList list_of(const RankBlocks& blocks) {
  if (blocks.element() == nullptr) return collectives::BlockList::general(blocks.shapes());
  return collectives::BlockList::irregular(*blocks.element(), blocks.counts(), blocks.displacements());
}

}  // namespace fab::native
