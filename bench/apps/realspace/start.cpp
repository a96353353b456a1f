#include "realspace/start.h"

#include <cmath>

namespace realspace {
namespace {

double exponentials(const Molecule& molecule, const Vector3& position_bohr) {
  double sum = 0;
  for (const Atom& atom : molecule.atoms) {
    const Vector3 d = position_bohr - atom.position_bohr;
    sum += std::exp(-std::sqrt(dot(d, d)));
  }
  return sum;
}

// A wave vector and a phase, evenly spread by multiples of irrational numbers. The first is 1 everywhere.
double wave(std::size_t number, const Vector3& place_bohr) {
  constexpr Vector3 kIrrational = {0.8191725134, 0.6710436067, 0.5497004779};  // powers of 1 / 1.2207...: M. Roberts
  constexpr double kSteepest = 2;                                              // per bohr
  constexpr double kPhase = 0.7;
  if (number == 0) return 1;
  double phase = kPhase * static_cast<double>(number);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double share = std::fmod(static_cast<double>(number) * kIrrational[axis], 1.0);
    phase += kSteepest * (share - 0.5) * place_bohr[axis];
  }
  return std::cos(phase);
}

}  // namespace

std::vector<double> starting_states(const Domain& domain, const Grid& grid, const Molecule& molecule,
                                    std::size_t width) {
  const Vector3 center = molecule.centroid_bohr();
  std::vector<double> states(domain.slot_count() * width, 0.0);
  for (std::size_t i = 0; i < domain.owned_count(); ++i) {
    const Vector3 position = grid.position_bohr(domain.owned[i]);
    const double envelope = exponentials(molecule, position);
    for (std::size_t k = 0; k < width; ++k) states[i * width + k] = envelope * wave(k, position - center);
  }
  return states;
}

}  // namespace realspace
