// A molecule: nuclei and where they are, read from the .xyz format.
#ifndef BENCH_APPS_REALSPACE_MOLECULE_H
#define BENCH_APPS_REALSPACE_MOLECULE_H

#include <string>
#include <string_view>
#include <vector>

#include "realspace/vector3.h"

namespace realspace {

// CODATA 2018.
inline constexpr double kBohrPerAngstrom = 1.0 / 0.529177210903;

struct Atom {
  int charge = 0;                   // of the nucleus, in elementary charges
  double covalent_radius_bohr = 0;  // only for drawing
  Vector3 position_bohr{};
};

struct Molecule {
  std::string name;
  std::vector<Atom> atoms;

  Vector3 centroid_bohr() const;
};

// Parses an .xyz text: the number of atoms, a comment line, then one line per atom with the element's symbol and x, y,
// z in Angstrom. `name` stands in messages. Throws InputError that names the line.
Molecule parse_xyz(std::string_view text, const std::string& name);

// The whole file as text. Throws InputError when it cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace realspace

#endif
