// The Z-order curve: the bits of a place's coordinates, interleaved, are its position.
#include "core/topology/mapping/cube.h"

namespace fab {
namespace {

/// Of the first dimension, which is the slowest, the bit comes first.
std::uint32_t reversed(std::uint32_t bits, unsigned count) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < count; ++i) result |= (bits >> i & 1u) << (count - 1 - i);
  return result;
}

void descend(const mapping::Cube& cube, const mapping::Cube::Origin& origin, unsigned level,
             mapping::RanksAlongCurve& ranks) {
  if (level == 0) return ranks.visit(cube.place(origin));
  for (std::uint32_t i = 0; i < 1u << cube.dimensions(); ++i) {
    mapping::Cube::Origin inner = origin;
    if (cube.enter(inner, reversed(i, cube.dimensions()), level - 1)) descend(cube, inner, level - 1, ranks);
  }
}

}  // namespace

Mapping Mapping::morton(const Cartesian& grid) {
  const mapping::Cube cube(grid);
  mapping::RanksAlongCurve ranks(grid.size());
  descend(cube, cube.origin(), cube.levels(), ranks);
  return std::move(ranks).mapping();
}

}  // namespace fab
