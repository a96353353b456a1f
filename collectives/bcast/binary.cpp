// Broadcast along a binary tree. Rank counts: any. Relative rank i receives from (i - 1) / 2, then sends to 2i + 1 and
// 2i + 2; floor(log2 P) steps. Every rank has at most three peers, in jobs of all sizes. Segments follow each
// other down the tree.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void bcast_binary(ScheduleBuilder& builder, const CollectiveCall& call) { bcast_along(binary_tree, builder, call); }

}  // namespace fab::collectives
