#ifndef BENCH_APPS_REALSPACE_START_H
#define BENCH_APPS_REALSPACE_START_H

#include <cstddef>
#include <vector>

#include "realspace/domain.h"
#include "realspace/grid.h"
#include "realspace/molecule.h"

namespace realspace {

// Vectors to start from, with `width` values for each slot, the same for every partition. The first is a sum of
// exponentials around the nuclei, positive as the lowest state is; the others are its products with waves that run in
// different directions.
std::vector<double> starting_states(const Domain& domain, const Grid& grid, const Molecule& molecule,
                                    std::size_t width);

}  // namespace realspace

#endif
