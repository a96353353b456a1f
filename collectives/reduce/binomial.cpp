// Reduction along a binomial tree. Rank counts: any. Relative rank i combines what comes from i + 2^k, for all 2^k
// below its lowest bit, with its own, and sends it to i without that bit; ceil(log2 P) steps.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void reduce_binomial(ScheduleBuilder& builder, const CollectiveCall& call) {
  reduce_along(binomial_tree, builder, call);
}

}  // namespace fab::collectives
