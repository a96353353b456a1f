// All-to-all broadcast on arrays of ranks of one to three dimensions, row-major (Lang, Distributed-Memory Programming
// Models II).
#pragma once

#include <vector>

#include "collectives/calls/call.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// Extents above 1 that are nearly equal where they can be, in ascending order; empty if there are none. Any number of
/// ranks is an array of one dimension.
[[nodiscard]] std::vector<int> array_extents(int ranks, int dimensions);

/// One dimension after the other, the last first: along row, column and plane each rank hands what it has to both
/// sides, in steps: in step k of an extent of n, k < n, the blocks of the rank k - 1 to the left go right and those of
/// the rank k - 1 to the right go left. Neighbours have different colours, and colours differ in the order in which
/// they send and receive, so that no rank does two things at once and none waits for one that waits for it.
void allgather_on_array(int dimensions, ScheduleBuilder& builder, const CollectiveCall& call);

}  // namespace fab::collectives
