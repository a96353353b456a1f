// Several lowest eigenstates of a symmetric operator.
#ifndef BENCH_APPS_REALSPACE_FILTERED_SUBSPACE_H
#define BENCH_APPS_REALSPACE_FILTERED_SUBSPACE_H

#include <cstddef>
#include <vector>

#include "realspace/distribution.h"

namespace realspace {

// The width of a block with room for `states` of them, and for some more that make those converge faster.
std::size_t block_width(int states);

// The lowest `states` states by iteration of a subspace (Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, Journal of
// Computational Physics 219 (2006) 172-184): each iteration applies a Chebyshev polynomial of H, which is small above
// the highest energy in the block and grows fast below it, and takes the best states in the span of what comes out. It
// makes degree + 1 applications of H to the whole block, and two sums over the ranks.
//
// `start` has slot_count times width entries, block_width(states) linearly independent vectors. Throws
// std::runtime_error if they turn out to be dependent.
Solution lowest_states(const Distribution& distribution, const SolverLimits& limits, int filter_degree, int states,
                       std::vector<double> start, const Progress& progress);

}  // namespace realspace

#endif
