// States that move in time.
#ifndef BENCH_APPS_REALSPACE_PROPAGATION_H
#define BENCH_APPS_REALSPACE_PROPAGATION_H

#include <cstddef>
#include <span>
#include <vector>

#include "realspace/distribution.h"

namespace realspace {

struct Motion {
  double time_step_au = 0;
  std::vector<double> position_bohr;  // the states' mean positions along the kick, summed, at 0 and after each step
  double norm_error = 0;              // the largest deviation of the sum of the states' norms, over their number
};

struct TimeSteps {
  double step_au = 0;
  int count = 0;
  double lowest_hartree = 0;  // no eigenvalue is below it
};

// The values that follow each other are the real and the imaginary part of a state times exp(i kick x): from `states`
// with `width` values for each slot, of which the first `count` are taken. `x` has the coordinate of each owned slot.
std::vector<double> kicked(std::span<const double> states, std::size_t width, std::size_t count, std::size_t slots,
                           std::span<const double> x_bohr, double kick_per_bohr);

// Propagates the states, pairs of a real and an imaginary part, by exp(-i H step), a series of Chebyshev polynomials of
// H (H. Tal-Ezer, R. Kosloff, J. Chem. Phys. 81 (1984) 3967-3971) to the accuracy of the arithmetic. The width of the
// distribution is twice the number of states.
Motion propagate(const Distribution& distribution, const TimeSteps& steps, std::vector<double> states,
                 std::span<const double> x_bohr);

struct SpectrumPoint {
  double energy_hartree = 0;
  double strength = 0;  // per hartree; over all energies its integral is the number of states
};

// The dipole strength function of states that a kick set in motion: the sine transform of their position (K. Yabana,
// G. F. Bertsch, Phys. Rev. B 54 (1996) 4484-4487), damped towards the end as is usual. Up to `highest`.
std::vector<SpectrumPoint> spectrum(const Motion& motion, double kick_per_bohr, double highest_hartree);

}  // namespace realspace

#endif
