#ifndef BENCH_APPS_REALSPACE_IMAGE_H
#define BENCH_APPS_REALSPACE_IMAGE_H

#include <string>
#include <vector>

#include "realspace/grid.h"
#include "realspace/molecule.h"

namespace realspace {

// Writes the density |state|^2 in the plane that fits the nuclei best as a PNG, `width_px` wide, with the atoms and
// bonds drawn over it. `state` has a value for every grid point.
void write_density_image(const std::string& path, const Grid& grid, const Molecule& molecule,
                         const std::vector<double>& state, int width_px);

}  // namespace realspace

#endif
