// Broadcast along a binomial tree. Rank counts: any. Relative rank i receives from i without its lowest bit, then sends
// to i + 2^k for all 2^k below that bit, the largest first; ceil(log2 P) steps.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void bcast_binomial(ScheduleBuilder& builder, const CollectiveCall& call) { bcast_along(binomial_tree, builder, call); }

}  // namespace fab::collectives
