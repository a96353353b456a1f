// Hilbert's curve in any number of dimensions. In each cube the subcubes are passed in the order of the reflected Gray
// code, turned so that the curve enters the cube at the corner `entry` and leaves it at the neighbouring corner along
// dimension `direction`. Names and formulas are those of Hamilton's report, sections 2.1 to 2.4.
#include <bit>

#include "core/topology/mapping/cube.h"

namespace fab {
namespace {

/// How the curve lies in a cube.
struct Turn {
  std::uint32_t entry = 0;
  unsigned direction = 0;
};

std::uint32_t gray_code(std::uint32_t i) noexcept { return i ^ (i >> 1); }

std::uint32_t rotated_left(std::uint32_t bits, unsigned by, unsigned width) noexcept {
  by %= width;
  return by == 0 ? bits : (bits << by | bits >> (width - by)) & ((1u << width) - 1);
}

/// Of the i-th subcube, before turning.
Turn turn_of(std::uint32_t i, unsigned dimensions) noexcept {
  if (i == 0) return {};
  const auto trailing_ones = [](std::uint32_t bits) { return static_cast<unsigned>(std::countr_one(bits)); };
  return {gray_code((i - 1) / 2 * 2), trailing_ones(i % 2 == 0 ? i - 1 : i) % dimensions};
}

void descend(const mapping::Cube& cube, const mapping::Cube::Origin& origin, unsigned level, Turn turn,
             mapping::RanksAlongCurve& ranks) {
  if (level == 0) return ranks.visit(cube.place(origin));
  const unsigned dimensions = cube.dimensions();
  const auto turned = [&](std::uint32_t bits) {
    return rotated_left(bits, turn.direction + 1, dimensions) ^ turn.entry;
  };
  for (std::uint32_t i = 0; i < 1u << dimensions; ++i) {
    mapping::Cube::Origin inner = origin;
    if (!cube.enter(inner, turned(gray_code(i)), level - 1)) continue;
    const Turn of_inner = turn_of(i, dimensions);
    descend(cube, inner, level - 1, {turned(of_inner.entry), (turn.direction + of_inner.direction + 1) % dimensions},
            ranks);
  }
}

}  // namespace

Mapping Mapping::hilbert(const Cartesian& grid) {
  const mapping::Cube cube(grid);
  mapping::RanksAlongCurve ranks(grid.size());
  descend(cube, cube.origin(), cube.levels(), {}, ranks);
  return std::move(ranks).mapping();
}

}  // namespace fab
