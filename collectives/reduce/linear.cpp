// Reduction along a star: every rank sends to the root, which combines P vectors in the order of ranks. Rank counts:
// any. The root holds all vectors.
#include "collectives/building_blocks/tree.h"

namespace fab::collectives {

void reduce_linear(ScheduleBuilder& builder, const CollectiveCall& call) { reduce_along(star, builder, call); }

}  // namespace fab::collectives
