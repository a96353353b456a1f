// The points of a regular lattice that are near a molecule.
#ifndef BENCH_APPS_REALSPACE_GRID_H
#define BENCH_APPS_REALSPACE_GRID_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "realspace/molecule.h"
#include "realspace/stencil.h"

namespace realspace {

using Cell = std::array<int, 3>;

// All lattice points strictly closer than radius_bohr to an atom; the lattice has a point on the molecule's centroid.
// Points are numbered from 0 with the last coordinate running fastest.
class Grid {
 public:
  static constexpr std::int32_t kNoPoint = -1;

  // Throws InputError when no point is near enough or the lattice would be too large to number.
  Grid(const Molecule& molecule, double spacing_bohr, double radius_bohr);

  double spacing_bohr() const { return spacing_bohr_; }
  std::size_t size() const { return cells_.size(); }
  Vector3 position_bohr(std::int32_t point) const;

  // The point at `offset` lattice steps along `axis` from `point`, or kNoPoint. |offset| <= kStencilRadius.
  std::int32_t neighbor(std::int32_t point, std::size_t axis, int offset) const;

  // Where a position lies on the lattice, in lattice steps; whole numbers are cells.
  Vector3 lattice_coordinates(const Vector3& position_bohr) const;
  // The point in a cell, or kNoPoint; any cell may be asked for.
  std::int32_t point_at(const Cell& cell) const;

 private:
  void size_box(const Molecule& molecule, double radius_bohr);
  void mark_ball(const Vector3& center_bohr, double radius_bohr);
  void number_points();
  std::size_t box_index(const Cell& cell) const;

  double spacing_bohr_;
  Vector3 origin_bohr_{};                 // position of cell (0, 0, 0)
  Cell extent_{};                         // of the box around the points, kStencilRadius cells of margin included
  std::vector<std::int32_t> box_;         // point number of every cell of the box
  std::vector<Cell> cells_;               // cell of every point
  std::array<std::ptrdiff_t, 3> step_{};  // distance in box_ of adjacent cells
};

// Calls visit(number of the point or kNoPoint) for all kStencilNeighbors points around `point`: the six at distance one
// first, then the six at distance two, and so on.
template <class Visit>
void for_each_stencil_neighbor(const Grid& grid, std::int32_t point, Visit visit) {
  for (int distance = 1; distance <= kStencilRadius; ++distance) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      visit(grid.neighbor(point, axis, -distance));
      visit(grid.neighbor(point, axis, +distance));
    }
  }
}

}  // namespace realspace

#endif
