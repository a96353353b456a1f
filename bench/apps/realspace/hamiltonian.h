// H = -1/2 Laplacian + V in atomic units, on one domain. Functions vanish outside the grid.
#ifndef BENCH_APPS_REALSPACE_HAMILTONIAN_H
#define BENCH_APPS_REALSPACE_HAMILTONIAN_H

#include <array>
#include <cstddef>
#include <vector>

#include "realspace/domain.h"
#include "realspace/molecule.h"

namespace realspace {

class Hamiltonian {
 public:
  // V(r) = - sum over atoms of Z / sqrt(|r - R|^2 + softening^2). Keeps a reference to the domain.
  Hamiltonian(const Domain& domain, const Grid& grid, const Molecule& molecule, double softening_bohr);

  // y = H x in the owned slots [first, last). x has all slots of the domain; inner slots read no ghosts.
  void apply(const double* x, double* y, std::size_t first, std::size_t last) const;

 private:
  const Domain& domain_;
  std::array<double, kStencilRadius + 1> kinetic_{};  // weight of a neighbor by its distance
  std::vector<double> diagonal_;                      // kinetic_[0] for three axes, and V
};

}  // namespace realspace

#endif
