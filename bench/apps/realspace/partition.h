// The partition of the grid: the owner of each grid point.
#ifndef BENCH_APPS_REALSPACE_PARTITION_H
#define BENCH_APPS_REALSPACE_PARTITION_H

#include <vector>

#include "realspace/grid.h"

namespace realspace {

// The part (0 .. parts-1) of every grid point, from METIS with a fixed seed: equal parts, few edges cut. Edges join
// points one step apart. At most as many parts as points. Throws std::runtime_error when METIS fails.
std::vector<int> partition_points(const Grid& grid, int parts);

// For every part, in ascending order, the parts that own a point within the stencil of one of its points.
std::vector<std::vector<int>> part_neighbors(const Grid& grid, const std::vector<int>& part_of_point, int parts);

}  // namespace realspace

#endif
