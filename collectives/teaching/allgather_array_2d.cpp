// All-to-all broadcast on a two-dimensional array: along rows, then columns (array.h). Rank counts: products of two
// factors above 1. For extents m and n: m + n - 2 steps of four operations.
#include "collectives/teaching/array.h"

namespace fab::collectives {

void allgather_array_2d(ScheduleBuilder& builder, const CollectiveCall& call) { allgather_on_array(2, builder, call); }

}  // namespace fab::collectives
