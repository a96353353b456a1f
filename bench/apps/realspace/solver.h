// The lowest eigenstate of a symmetric operator.
#ifndef BENCH_APPS_REALSPACE_SOLVER_H
#define BENCH_APPS_REALSPACE_SOLVER_H

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace realspace {

// What the solver needs to know about how its vectors are distributed.
struct Distribution {
  std::size_t owned_count = 0;  // entries of a vector that count in products
  std::size_t slot_count = 0;   // entries of a vector in all; those beyond the owned ones start as zero
  std::function<void(double* x, double* y)> apply;        // y = H x in the owned entries; may fill x's other entries
  std::function<void(std::span<double>)> sum_over_ranks;  // in place
};

struct SolverLimits {
  int max_iterations = 0;
  double tolerance = 0;  // of the residual |H x - E x| for |x| = 1, in Hartree; 0: use up the iterations
};

struct Solution {
  std::vector<double> state;  // of length 1, slot_count entries
  double energy_hartree = 0;
  double residual_hartree = 0;
  int iterations = 0;
  bool converged = false;  // the residual is within the tolerance, or the tolerance is 0
};

using Progress = std::function<void(int iteration, double energy_hartree, double residual_hartree)>;

// Locally optimal conjugate gradients for one vector (A. V. Knyazev, SIAM J. Sci. Comput. 23 (2001) 517-541, without a
// preconditioner): each iteration minimises the energy over the state, its residual and the last step, with one
// application of H and one sum over the ranks. `start` has slot_count entries. The energy is the Rayleigh quotient of
// the state, so its error is of the order of the residual squared.
Solution lowest_state(const Distribution& distribution, const SolverLimits& limits, std::vector<double> start,
                      const Progress& progress);

}  // namespace realspace

#endif
