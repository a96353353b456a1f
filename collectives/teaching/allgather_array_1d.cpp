// All-to-all broadcast on a one-dimensional array, with black and white colouring (array.h). Rank counts: any. P - 1
// steps of four operations; 3 P - 2 times of one message pass until the ends have each other's blocks.
#include "collectives/teaching/array.h"

namespace fab::collectives {

void allgather_array_1d(ScheduleBuilder& builder, const CollectiveCall& call) { allgather_on_array(1, builder, call); }

}  // namespace fab::collectives
