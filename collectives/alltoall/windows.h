// All-to-all between pairs of ranks: in step k rank i meets rank k - i (modulo P), and both exchange their blocks. So
// every rank has one partner a step, and none in the step in which that would be itself.
#pragma once

#include "collectives/calls/call.h"

namespace fab::collectives {

/// `width` steps of a rank are in flight together. Calls in place set as many blocks aside, twice.
void exchange_in_windows(ScheduleBuilder& builder, const CollectiveCall& call, std::size_t width);

}  // namespace fab::collectives
