// Inclusive prefixes of several nodes, each of consecutive ranks (node_prefixes.h). Any operation. Between nodes go
// only the messages of the exclusive scan of N ranks.
#include "collectives/scan/node_prefixes.h"

namespace fab::collectives {

void scan_leaders(ScheduleBuilder& builder, const CollectiveCall& call) {
  scan_of_nodes(builder, call, Prefix::inclusive);
}

}  // namespace fab::collectives
