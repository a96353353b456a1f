// All-to-all with all partners at once, for equal and unequal blocks. Rank counts: any. One step for up to 33 ranks;
// more partners follow 32 at a time, which bounds the messages that a rank has in flight.
#include "collectives/alltoall/windows.h"

namespace fab::collectives {

void alltoall_linear(ScheduleBuilder& builder, const CollectiveCall& call) {
  constexpr std::size_t kWindow = 32;
  exchange_in_windows(builder, call, kWindow);
}

}  // namespace fab::collectives
