// The interface to Scotch, the graph partitioner.
#pragma once

#include "core/topology/mapping/placement.h"

namespace fab::mapping {

/// A placement with a light cut, in which nodes may have some places more or fewer than ranks. `traffic` is symmetric.
/// Equal arguments give equal placements. Throws Error(no_resources) when Scotch fails, which also writes to stderr
/// why.
[[nodiscard]] Placement partition_by_scotch(const Traffic& traffic, const Nodes& nodes);

}  // namespace fab::mapping
