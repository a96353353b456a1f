// Orders of a grid's places in which nodes that take consecutive places become bricks.
#pragma once

#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab::mapping {

/// A grid divided into columns along one dimension.
struct Columns {
  std::size_t along = 0;
  std::vector<int> counts{};  ///< of columns in each other dimension; 1 along it
};

/// At most `most` of them, best first, by an estimate of the cut that takes each node for a brick of as many places as
/// it has ranks. `weights` above 0: of a message along each dimension.
[[nodiscard]] std::vector<Columns> find_columns(const Cartesian& grid, std::span<const double> weights,
                                                int ranks_of_node, std::size_t most);

/// All places, column by column, each layer by layer; successive ones are neighbours, or nearly so where columns have
/// different widths.
[[nodiscard]] std::vector<int> order_by_columns(const Cartesian& grid, const Columns& columns);

}  // namespace fab::mapping
