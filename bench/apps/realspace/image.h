#ifndef BENCH_APPS_REALSPACE_IMAGE_H
#define BENCH_APPS_REALSPACE_IMAGE_H

#include <string>
#include <vector>

#include "realspace/grid.h"
#include "realspace/molecule.h"

namespace realspace {

// Writes the density in the plane that fits the nuclei best as a PNG, `width_px` wide, with the atoms and bonds drawn
// over it. `amplitude` has the root of the density for every grid point; the colours show it from 0 to its highest
// value. Returns the width of a pixel in bohr.
double write_density_image(const std::string& path, const Grid& grid, const Molecule& molecule,
                           const std::vector<double>& amplitude, int width_px);

}  // namespace realspace

#endif
