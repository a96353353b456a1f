// Reduction along a chain, in segments. Rank counts: any. Relative rank i combines what comes from i + 1 with its own
// and sends it to i - 1, segment after segment.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void reduce_chain(ScheduleBuilder& builder, const CollectiveCall& call) { reduce_along(chain, builder, call); }

}  // namespace fab::collectives
