// States in a file, from which a calculation on any number of ranks can go on.
//
// The file has a line "fab realspace checkpoint 1", a line with a JSON object, and then the values as doubles of the
// machine that wrote them (little-endian on all that fab knows), by grid point: `width` values for each. The object has
// "points", "width", "spacing_bohr", "radius_bohr" and "atoms", a list of [charge, x, y, z] in bohr.
#ifndef BENCH_APPS_REALSPACE_CHECKPOINT_H
#define BENCH_APPS_REALSPACE_CHECKPOINT_H

#include <cstddef>
#include <string>
#include <vector>

#include "realspace/molecule.h"

namespace realspace {

struct Checkpoint {
  std::size_t points = 0;
  std::size_t width = 0;
  double spacing_bohr = 0;
  double radius_bohr = 0;
  std::vector<Atom> atoms;     // without covalent radii
  std::vector<double> values;  // points times width
};

// Replaces the file when all is written, so that there is always a whole one. Returns what went wrong, or nothing.
std::string write_checkpoint(const Checkpoint& checkpoint, const std::string& path);

// `name` stands in messages. Throws InputError if the text is no checkpoint, or not a whole one.
Checkpoint parse_checkpoint(const std::string& text, const std::string& name);

// Throws InputError that names what differs, unless both have the same grid; widths may differ.
void require_same_grid(const Checkpoint& checkpoint, const Checkpoint& wanted, const std::string& name);

}  // namespace realspace

#endif
