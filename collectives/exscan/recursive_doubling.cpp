// Exclusive prefixes by recursive doubling. Any operation; rank counts: any; ceil(log2 P) steps.
#include "collectives/scan/doubling.h"

namespace fab::collectives {

void exscan_recursive_doubling(ScheduleBuilder& builder, const CollectiveCall& call) {
  scan_doubling(builder, call, Prefix::exclusive);
}

}  // namespace fab::collectives
