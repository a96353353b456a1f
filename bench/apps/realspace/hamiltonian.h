// H = -1/2 Laplacian + V in atomic units, on one domain. Functions vanish outside the grid.
#ifndef BENCH_APPS_REALSPACE_HAMILTONIAN_H
#define BENCH_APPS_REALSPACE_HAMILTONIAN_H

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "realspace/domain.h"
#include "realspace/molecule.h"

namespace realspace {

// The operator scale (H - shift), whose image is added to `keep` times what was there.
struct Affine {
  double scale = 1;
  double shift = 0;
  double keep = 0;
};

using Potential = std::function<double(const Vector3& position_bohr)>;  // in hartree

// V(r) = - sum over atoms of Z / sqrt(|r - R|^2 + softening^2). Keeps a reference to the molecule.
Potential coulomb_potential(const Molecule& molecule, double softening_bohr);

// V(r) = omega^2 |r - center|^2 / 2, whose lowest state has the energy 3/2 omega.
Potential harmonic_potential(const Vector3& center_bohr, double omega_hartree);

class Hamiltonian {
 public:
  // Keeps a reference to the domain. Vectors have `width` values per slot, one for each function: 1, or a multiple
  // of 4.
  Hamiltonian(const Domain& domain, const Grid& grid, const Potential& potential, std::size_t width);

  // y = scale (H - shift) x + keep y in the owned slots [first, last). x has all slots; inner slots read no ghosts.
  void apply(const Affine& affine, const double* x, double* y, std::size_t first, std::size_t last) const;

  // No eigenvalue is above this, if the potential is the highest in this domain.
  double upper_bound_hartree() const;

 private:
  template <std::size_t lanes>
  void apply_lanes(const Affine& affine, const double* x, double* y, std::size_t first, std::size_t last) const;

  const Domain& domain_;
  double spacing_bohr_;
  std::size_t width_;
  std::array<double, kStencilRadius + 1> kinetic_{};  // weight of a neighbor by its distance
  std::vector<double> diagonal_;                      // kinetic_[0] for three axes, and V
};

}  // namespace realspace

#endif
