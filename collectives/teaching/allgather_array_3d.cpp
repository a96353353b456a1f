// All-to-all broadcast on a three-dimensional array: along rows, columns, then planes (array.h). Rank counts: products
// of three factors above 1. For extents l, m and n: l + m + n - 3 steps of four operations.
#include "collectives/teaching/array.h"

namespace fab::collectives {

void allgather_array_3d(ScheduleBuilder& builder, const CollectiveCall& call) { allgather_on_array(3, builder, call); }

}  // namespace fab::collectives
