// All-to-all, one partner after another, for equal and unequal blocks. Rank counts: any. In step k rank i exchanges
// blocks with rank k - i (modulo P); P - 1 steps, in each of which every rank sends one block and receives one.
#include "collectives/alltoall/windows.h"

namespace fab::collectives {

void alltoall_pairwise(ScheduleBuilder& builder, const CollectiveCall& call) { exchange_in_windows(builder, call, 1); }

}  // namespace fab::collectives
