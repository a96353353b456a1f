#include "realspace/hamiltonian.h"

#include <cmath>

namespace realspace {
namespace {

double potential(const Molecule& molecule, const Vector3& position_bohr, double softening_bohr) {
  double sum = 0;
  for (const Atom& atom : molecule.atoms) {
    const Vector3 d = position_bohr - atom.position_bohr;
    sum -= atom.charge / std::sqrt(dot(d, d) + softening_bohr * softening_bohr);
  }
  return sum;
}

}  // namespace

Hamiltonian::Hamiltonian(const Domain& domain, const Grid& grid, const Molecule& molecule, double softening_bohr)
    : domain_(domain) {
  const double h = grid.spacing_bohr();
  for (std::size_t k = 0; k < kinetic_.size(); ++k) kinetic_[k] = -0.5 * kSecondDerivative[k] / (h * h);
  diagonal_.reserve(domain.owned_count());
  for (std::int32_t point : domain.owned) {
    diagonal_.push_back(3 * kinetic_[0] + potential(molecule, grid.position_bohr(point), softening_bohr));
  }
}

void Hamiltonian::apply(const double* x, double* y, std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    double sum = diagonal_[i] * x[i];
    const std::int32_t* slot = domain_.stencil[i].data();
    for (std::size_t distance = 1; distance <= kStencilRadius; ++distance, slot += 6) {
      sum += kinetic_[distance] * (x[slot[0]] + x[slot[1]] + x[slot[2]] + x[slot[3]] + x[slot[4]] + x[slot[5]]);
    }
    y[i] = sum;
  }
}

}  // namespace realspace
