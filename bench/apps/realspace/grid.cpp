#include "realspace/grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "realspace/input_error.h"

namespace realspace {

// Every rank holds the numbering of the whole lattice: 4 B a cell.
constexpr double kMaxCells = 1 << 28;

Grid::Grid(const Molecule& molecule, double spacing_bohr, double radius_bohr) : spacing_bohr_(spacing_bohr) {
  size_box(molecule, radius_bohr);
  for (const Atom& atom : molecule.atoms) mark_ball(atom.position_bohr, radius_bohr);
  number_points();
  if (cells_.empty()) {
    throw InputError(
        fmt::format("no grid point is closer than the radius ({} bohr) to an atom: the spacing ({} bohr) "
                    "must be smaller or the radius larger",
                    radius_bohr, spacing_bohr));
  }
}

void Grid::size_box(const Molecule& molecule, double radius_bohr) {
  const Vector3 centroid = molecule.centroid_bohr();
  double cells = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double reach_bohr = 0;
    for (const Atom& atom : molecule.atoms) {
      reach_bohr = std::max(reach_bohr, std::abs(atom.position_bohr[axis] - centroid[axis]));
    }
    const double half = std::ceil((reach_bohr + radius_bohr) / spacing_bohr_) + kStencilRadius;
    cells *= 2 * half + 1;
    if (!(cells <= kMaxCells)) {
      throw InputError(
          fmt::format("a spacing of {} bohr with a radius of {} bohr makes a lattice of more than {} cells",
                      spacing_bohr_, radius_bohr, kMaxCells));
    }
    extent_[axis] = 2 * static_cast<int>(half) + 1;
    origin_bohr_[axis] = centroid[axis] - half * spacing_bohr_;
  }
  step_ = {std::ptrdiff_t{extent_[1]} * extent_[2], extent_[2], 1};
  box_.assign(static_cast<std::size_t>(cells), kNoPoint);
}

void Grid::mark_ball(const Vector3& center_bohr, double radius_bohr) {
  const Vector3 center = lattice_coordinates(center_bohr);
  const double radius = radius_bohr / spacing_bohr_;
  const auto first = [&](std::size_t axis) { return static_cast<int>(std::floor(center[axis] - radius)); };
  const auto last = [&](std::size_t axis) { return static_cast<int>(std::ceil(center[axis] + radius)); };
  for (int x = first(0); x <= last(0); ++x) {
    for (int y = first(1); y <= last(1); ++y) {
      for (int z = first(2); z <= last(2); ++z) {
        const Vector3 d = Vector3{double(x), double(y), double(z)} - center;
        if (dot(d, d) < radius * radius) box_[box_index({x, y, z})] = 0;
      }
    }
  }
}

void Grid::number_points() {
  for (int x = 0; x < extent_[0]; ++x) {
    for (int y = 0; y < extent_[1]; ++y) {
      for (int z = 0; z < extent_[2]; ++z) {
        std::int32_t& entry = box_[box_index({x, y, z})];
        if (entry == kNoPoint) continue;
        entry = static_cast<std::int32_t>(cells_.size());
        cells_.push_back({x, y, z});
      }
    }
  }
}

std::size_t Grid::box_index(const Cell& cell) const {
  return static_cast<std::size_t>(cell[0] * step_[0] + cell[1] * step_[1] + cell[2]);
}

Vector3 Grid::position_bohr(std::int32_t point) const {
  const Cell& cell = cells_[static_cast<std::size_t>(point)];
  return origin_bohr_ + spacing_bohr_ * Vector3{double(cell[0]), double(cell[1]), double(cell[2])};
}

std::int32_t Grid::neighbor(std::int32_t point, std::size_t axis, int offset) const {
  const auto center = static_cast<std::ptrdiff_t>(box_index(cells_[static_cast<std::size_t>(point)]));
  return box_[static_cast<std::size_t>(center + offset * step_[axis])];
}

Vector3 Grid::lattice_coordinates(const Vector3& position_bohr) const {
  return (1 / spacing_bohr_) * (position_bohr - origin_bohr_);
}

std::int32_t Grid::point_at(const Cell& cell) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (cell[axis] < 0 || cell[axis] >= extent_[axis]) return kNoPoint;
  }
  return box_[box_index(cell)];
}

}  // namespace realspace
