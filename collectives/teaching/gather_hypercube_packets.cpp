// Gather on the hypercube through a bounded buffer (gather_hypercube.h). Rank counts: any; blocks of any length go
// through scratch for two packets at each rank on their way.
#include "collectives/teaching/gather_hypercube.h"

namespace fab::collectives {

void gather_hypercube_packets(ScheduleBuilder& builder, const CollectiveCall& call) {
  constexpr std::size_t kPacketBytes = 8192;
  gather_on_hypercube(kPacketBytes, builder, call);
}

}  // namespace fab::collectives
