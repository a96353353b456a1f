#include "realspace/hamiltonian.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace realspace {

Potential coulomb_potential(const Molecule& molecule, double softening_bohr) {
  return [&molecule, softening_bohr](const Vector3& position_bohr) {
    double sum = 0;
    for (const Atom& atom : molecule.atoms) {
      const Vector3 d = position_bohr - atom.position_bohr;
      sum -= atom.charge / std::sqrt(dot(d, d) + softening_bohr * softening_bohr);
    }
    return sum;
  };
}

Potential harmonic_potential(const Vector3& center_bohr, double omega_hartree) {
  return [center_bohr, omega_hartree](const Vector3& position_bohr) {
    const Vector3 d = position_bohr - center_bohr;
    return 0.5 * omega_hartree * omega_hartree * dot(d, d);
  };
}

Hamiltonian::Hamiltonian(const Domain& domain, const Grid& grid, const Potential& potential, std::size_t width)
    : domain_(domain), spacing_bohr_(grid.spacing_bohr()), width_(width) {
  const double h = spacing_bohr_;
  for (std::size_t k = 0; k < kinetic_.size(); ++k) kinetic_[k] = -0.5 * kSecondDerivative[k] / (h * h);
  diagonal_.reserve(domain.owned_count());
  for (std::int32_t point : domain.owned) {
    diagonal_.push_back(3 * kinetic_[0] + potential(grid.position_bohr(point)));
  }
}

// The functions of `lanes` numbers at a time.
template <std::size_t lanes>
void Hamiltonian::apply_lanes(const Affine& affine, const double* x, double* y, std::size_t first,
                              std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    const std::int32_t* slots = domain_.stencil[i].data();
    const double diagonal = diagonal_[i] - affine.shift;
    for (std::size_t lane = 0; lane < width_; lane += lanes) {
      std::array<double, lanes> sum;
      for (std::size_t k = 0; k < lanes; ++k) sum[k] = diagonal * x[i * width_ + lane + k];
      for (std::size_t distance = 1; distance <= kStencilRadius; ++distance) {
        std::array<const double*, 6> near;
        for (std::size_t n = 0; n < 6; ++n) {
          near[n] = x + static_cast<std::size_t>(slots[6 * (distance - 1) + n]) * width_ + lane;
        }
        for (std::size_t k = 0; k < lanes; ++k) {
          sum[k] += kinetic_[distance] * (near[0][k] + near[1][k] + near[2][k] + near[3][k] + near[4][k] + near[5][k]);
        }
      }
      double* out = y + i * width_ + lane;
      if (affine.keep == 0) {
        for (std::size_t k = 0; k < lanes; ++k) out[k] = affine.scale * sum[k];
      } else {
        for (std::size_t k = 0; k < lanes; ++k) out[k] = affine.scale * sum[k] + affine.keep * out[k];
      }
    }
  }
}

void Hamiltonian::apply(const Affine& affine, const double* x, double* y, std::size_t first, std::size_t last) const {
  if (width_ % 4 == 0) {
    apply_lanes<4>(affine, x, y, first, last);
  } else if (width_ % 2 == 0) {
    apply_lanes<2>(affine, x, y, first, last);
  } else {
    apply_lanes<1>(affine, x, y, first, last);
  }
}

double Hamiltonian::upper_bound_hartree() const {
  double symbol = -kSecondDerivative[0];  // of the function that changes its sign from point to point
  for (std::size_t k = 1; k < kSecondDerivative.size(); ++k) {
    symbol -= 2 * kSecondDerivative[k] * (k % 2 == 0 ? 1 : -1);
  }
  const double highest_kinetic = 3 * 0.5 * symbol / (spacing_bohr_ * spacing_bohr_);
  double highest_diagonal = std::numeric_limits<double>::lowest();
  for (double value : diagonal_) highest_diagonal = std::max(highest_diagonal, value);
  return highest_kinetic + highest_diagonal - 3 * kinetic_[0];
}

}  // namespace realspace
