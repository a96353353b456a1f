// Grids onto hypercubes: a processor's number consists of the Gray codes of its coordinates, the first dimension's in
// the highest bits. Rings of a power of two places close, as the last Gray code differs from the first in one bit.
#include <fmt/core.h>

#include <bit>
#include <utility>

#include "fab/error.h"
#include "fab/mapping.h"

namespace fab {

Mapping Mapping::gray_code(const Cartesian& grid) {
  for (std::size_t d = 0; d < grid.dims().size(); ++d)
    if (!std::has_single_bit(static_cast<unsigned>(grid.dims()[d])))
      throw Error(Errc::invalid_topology,
                  fmt::format("Mapping::gray_code: dims[{}] is {}; a hypercube holds grids whose extents are powers of "
                              "two",
                              d, grid.dims()[d]));
  std::vector<Rank> processors(static_cast<std::size_t>(grid.size()));
  for (int place = 0; place < grid.size(); ++place) {
    unsigned processor = 0;
    auto rest = static_cast<unsigned>(place);
    unsigned shift = 0;
    for (std::size_t d = grid.dims().size(); d-- > 0;) {
      const auto extent = static_cast<unsigned>(grid.dims()[d]);
      const unsigned coordinate = rest % extent;
      processor |= (coordinate ^ (coordinate >> 1)) << shift;
      rest /= extent;
      shift += static_cast<unsigned>(std::countr_zero(extent));
    }
    processors[static_cast<std::size_t>(place)] = static_cast<Rank>(processor);
  }
  return Mapping(std::move(processors));
}

}  // namespace fab
