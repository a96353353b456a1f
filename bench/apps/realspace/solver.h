// The lowest eigenstate of a symmetric operator.
#ifndef BENCH_APPS_REALSPACE_SOLVER_H
#define BENCH_APPS_REALSPACE_SOLVER_H

#include <vector>

#include "realspace/distribution.h"

namespace realspace {

// Locally optimal conjugate gradients for one vector (A. V. Knyazev, SIAM J. Sci. Comput. 23 (2001) 517-541, without a
// preconditioner): each iteration minimises the energy over the state, its residual and the last step, with one
// application of H and one sum over the ranks. `start` has slot_count entries; the distribution's width is 1. The
// energy is the Rayleigh quotient of the state, so its error is of the order of the residual squared.
Solution lowest_state(const Distribution& distribution, const SolverLimits& limits, std::vector<double> start,
                      const Progress& progress);

}  // namespace realspace

#endif
