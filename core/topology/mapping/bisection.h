// Bisects a grid between nodes.
#pragma once

#include <span>

#include "core/topology/mapping/placement.h"

namespace fab::mapping {

/// Divides the grid into two parts for two halves of the nodes, along the dimension where that cuts least, and does the
/// same with both parts until each is one node's. `weights`: of a message along each dimension.
[[nodiscard]] Placement bisect(const Cartesian& grid, std::span<const double> weights, const Nodes& nodes);

}  // namespace fab::mapping
