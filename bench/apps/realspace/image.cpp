#include "realspace/image.h"

#include <algorithm>
#include <cmath>

#include "realspace/canvas.h"
#include "realspace/color_map.h"
#include "realspace/symmetric_matrix.h"

namespace realspace {
namespace {

// The window onto the molecular plane.
class View {
 public:
  View(const Molecule& molecule, int width_px) : center_(molecule.centroid_bohr()) {
    fit_plane(molecule);
    constexpr double kMarginBohr = 3.2;
    double half_width_bohr = kMarginBohr;
    double half_height_bohr = kMarginBohr;
    for (const Atom& atom : molecule.atoms) {
      const Vector3 d = atom.position_bohr - center_;
      half_width_bohr = std::max(half_width_bohr, std::abs(dot(d, right_)) + kMarginBohr);
      half_height_bohr = std::max(half_height_bohr, std::abs(dot(d, down_)) + kMarginBohr);
    }
    bohr_per_px_ = 2 * half_width_bohr / width_px;
    width_px_ = width_px;
    height_px_ = std::max(1, static_cast<int>(std::lround(2 * half_height_bohr / bohr_per_px_)));
  }

  int width_px() const { return width_px_; }
  int height_px() const { return height_px_; }
  double bohr_per_px() const { return bohr_per_px_; }
  double to_px(double bohr) const { return bohr / bohr_per_px_; }

  Vector3 position_bohr(int x, int y) const {
    return center_ + (bohr_per_px_ * (x - (width_px_ - 1) / 2.0)) * right_ +
           (bohr_per_px_ * (y - (height_px_ - 1) / 2.0)) * down_;
  }

  Pixel project(const Vector3& position_bohr) const {
    const Vector3 d = position_bohr - center_;
    return {to_px(dot(d, right_)) + (width_px_ - 1) / 2.0, to_px(dot(d, down_)) + (height_px_ - 1) / 2.0};
  }

 private:
  // The plane through the centroid that the nuclei scatter least from; its longest direction lies level.
  void fit_plane(const Molecule& molecule) {
    Matrix scatter(3);
    for (const Atom& atom : molecule.atoms) {
      const Vector3 d = atom.position_bohr - center_;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) scatter(i, j) += d[i] * d[j];
      }
    }
    const EigenSystem system = eigen_system(scatter);
    std::copy_n(system.vectors.row(2), 3, right_.begin());
    std::copy_n(system.vectors.row(1), 3, down_.begin());
  }

  Vector3 center_;
  Vector3 right_{};
  Vector3 down_{};
  double bohr_per_px_ = 1;
  int width_px_ = 0;
  int height_px_ = 0;
};

// Weights of four neighbouring samples for a point `t` of the way from the second to the third (Catmull-Rom spline).
std::array<double, 4> cubic_weights(double t) {
  return {t * (-1 + t * (2 - t)) / 2, (2 + t * t * (3 * t - 5)) / 2, t * (1 + t * (4 - 3 * t)) / 2,
          t * t * (t - 1) / 2};
}

// The amplitude between grid points; zero outside the grid.
double interpolate(const Grid& grid, const std::vector<double>& amplitude, const Vector3& position_bohr) {
  const Vector3 place = grid.lattice_coordinates(position_bohr);
  Cell corner{};
  std::array<std::array<double, 4>, 3> weight{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double floor = std::floor(place[axis]);
    corner[axis] = static_cast<int>(floor) - 1;
    weight[axis] = cubic_weights(place[axis] - floor);
  }
  double sum = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t x = i / 16, y = i / 4 % 4, z = i % 4;
    const std::int32_t point = grid.point_at(
        {corner[0] + static_cast<int>(x), corner[1] + static_cast<int>(y), corner[2] + static_cast<int>(z)});
    if (point == Grid::kNoPoint) continue;
    sum += weight[0][x] * weight[1][y] * weight[2][z] * amplitude[static_cast<std::size_t>(point)];
  }
  return sum;
}

// The amplitude, not its square: its colours show the tails as well as the peaks.
void paint(Canvas& canvas, const View& view, const Grid& grid, const std::vector<double>& amplitude) {
  std::vector<double> values;
  for (int y = 0; y < canvas.height_px(); ++y) {
    for (int x = 0; x < canvas.width_px(); ++x) {
      values.push_back(std::abs(interpolate(grid, amplitude, view.position_bohr(x, y))));
    }
  }
  const double highest = *std::max_element(values.begin(), values.end());
  auto value = values.begin();
  for (int y = 0; y < canvas.height_px(); ++y) {
    for (int x = 0; x < canvas.width_px(); ++x) canvas.set(x, y, color_map(highest > 0 ? *value++ / highest : 0));
  }
}

void draw_molecule(Canvas& canvas, const View& view, const Molecule& molecule) {
  constexpr Color kWhite = {1, 1, 1};
  constexpr double kRadiusShare = 0.42;  // of the covalent radius that an atom is drawn with
  constexpr double kBondStretch = 1.2;   // of the covalent radii's sum that still counts as a bond
  const double line_px = view.width_px() / 320.0;
  const auto radius_px = [&](const Atom& atom) { return view.to_px(kRadiusShare * atom.covalent_radius_bohr); };

  for (auto a = molecule.atoms.begin(); a != molecule.atoms.end(); ++a) {
    for (auto b = std::next(a); b != molecule.atoms.end(); ++b) {
      const Vector3 d = b->position_bohr - a->position_bohr;
      const double distance_bohr = std::sqrt(dot(d, d));
      if (distance_bohr > kBondStretch * (a->covalent_radius_bohr + b->covalent_radius_bohr)) continue;
      const Vector3 step = (kRadiusShare / distance_bohr) * d;
      canvas.draw_line(view.project(a->position_bohr + a->covalent_radius_bohr * step),
                       view.project(b->position_bohr - b->covalent_radius_bohr * step), line_px, kWhite, 0.45);
    }
  }
  for (const Atom& atom : molecule.atoms) {
    const Pixel center = view.project(atom.position_bohr);
    canvas.draw_disc(center, radius_px(atom), kWhite, 0.12);
    canvas.draw_ring(center, radius_px(atom), line_px, kWhite, 0.8);
  }
}

}  // namespace

double write_density_image(const std::string& path, const Grid& grid, const Molecule& molecule,
                           const std::vector<double>& amplitude, int width_px) {
  const View view(molecule, width_px);
  Canvas canvas(view.width_px(), view.height_px());
  paint(canvas, view, grid, amplitude);
  draw_molecule(canvas, view, molecule);
  canvas.save_png(path);
  return view.bohr_per_px();
}

}  // namespace realspace
