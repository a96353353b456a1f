// What the solvers need to know of how their vectors are distributed, and what they tell of their work.
#ifndef BENCH_APPS_REALSPACE_DISTRIBUTION_H
#define BENCH_APPS_REALSPACE_DISTRIBUTION_H

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "realspace/hamiltonian.h"

namespace realspace {

// A vector has `width` values for each of its slots.
struct Distribution {
  std::size_t owned_count = 0;  // slots that count in products
  std::size_t slot_count = 0;   // slots in all; those beyond the owned ones start as zero
  std::size_t width = 1;
  // Collective; before the first apply() to x. x stays where it is from then on.
  std::function<void(double* x)> attach;
  // y = scale (H - shift) x + keep y in the owned slots; may fill x's other slots.
  std::function<void(const Affine& affine, double* x, double* y)> apply;
  std::function<void(std::span<double>)> sum_over_ranks;  // in place
  double highest_hartree = 0;                             // no eigenvalue is above it
};

struct SolverLimits {
  int max_iterations = 0;
  double tolerance = 0;  // of the residual |H x - E x| for |x| = 1, in Hartree; 0: use up the iterations
};

struct Solution {
  std::vector<double> states;            // slot_count times width values; the states have length 1
  std::vector<double> energies_hartree;  // of the states that were asked for, ascending
  double residual_hartree = 0;           // the largest of them
  int iterations = 0;
  bool converged = false;  // the residual is within the tolerance, or the tolerance is 0
  double seconds = 0;      // of the iterations, after all vectors have been attached
};

// Where a solver is; all ranks are told.
struct Stage {
  int iteration = 0;
  double energy_hartree = 0;  // of the states that were asked for, together
  double residual_hartree = 0;
  const std::vector<double>& states;
};
using Progress = std::function<void(const Stage&)>;

}  // namespace realspace

#endif
