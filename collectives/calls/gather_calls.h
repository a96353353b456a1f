// The calls that collect blocks from all ranks, or distribute blocks to them.
#pragma once

#include "collectives/calls/call.h"

namespace fab::collectives {

/// Completes a gather, scatter, allgather or one of their v-forms, of which are given: the collective, rank and ranks,
/// root, in_place, send and recv. One side is this rank's own block, a list of one; the other one has a block of each
/// rank. What only the root has is ignored on other ranks; in place this rank's own block is in the list, and the other
/// side is ignored. Of calls without a v all blocks have the same size, and the first one stands for all. Throws
/// Error(invalid_argument) for another number of blocks, or a call in place on a rank that does not have all blocks,
/// and Error(invalid_count) when this rank's own block has another size than its place in the list.
[[nodiscard]] CollectiveCall gather_call(CollectiveCall call);

}  // namespace fab::collectives
