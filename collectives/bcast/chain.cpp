// Broadcast along a chain, in segments. Rank counts: any. In step k relative rank i receives segment k - i + 1 from
// i - 1 and sends segment k - i to i + 1; P - 2 steps more than there are segments.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void bcast_chain(ScheduleBuilder& builder, const CollectiveCall& call) { bcast_along(chain, builder, call); }

}  // namespace fab::collectives
