// Broadcast along a star: the root sends to every rank, P - 1 messages in one step. Rank counts: any.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void bcast_linear(ScheduleBuilder& builder, const CollectiveCall& call) { bcast_along(star, builder, call); }

}  // namespace fab::collectives
