// All-to-one with individual messages on the hypercube (Lang, Distributed-Memory Programming Models II).
#pragma once

#include <cstddef>

#include "collectives/calls/call.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// Blocks go up the hypercube's spanning tree, a binomial tree, in the order of relative ranks, one by one and each in
/// packets of at most `packet_bytes`: while a rank sends one to its parent the next one comes. Ranks other than the
/// root and those that pack their own block need scratch for two packets. Incomplete hypercubes lack whole subtrees.
void gather_on_hypercube(std::size_t packet_bytes, ScheduleBuilder& builder, const CollectiveCall& call);

}  // namespace fab::collectives
