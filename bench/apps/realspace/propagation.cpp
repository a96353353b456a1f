#include "realspace/propagation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <utility>

namespace realspace {
namespace {

using Complex = std::complex<double>;

// exp(-i H t) = sum of coefficient k times T_k((H - center) / half_width).
struct Series {
  double center = 0;
  double half_width = 0;
  std::vector<Complex> coefficients;
};

Series series_for(double lowest_hartree, double highest_hartree, double time_au) {
  constexpr double kNegligible = 1e-17;
  Series series;
  series.center = (highest_hartree + lowest_hartree) / 2;
  series.half_width = (highest_hartree - lowest_hartree) / 2;
  const double argument = series.half_width * time_au;
  const Complex phase = std::polar(1.0, -series.center * time_au);
  const std::array<Complex, 4> powers = {1, Complex(0, -1), -1, Complex(0, 1)};  // of -i
  for (unsigned k = 0;; ++k) {
    const double bessel = std::cyl_bessel_j(static_cast<double>(k), argument);
    if (k > argument && std::abs(bessel) < kNegligible) break;
    series.coefficients.push_back((k == 0 ? 1.0 : 2.0) * bessel * powers[k % 4] * phase);
  }
  return series;
}

class Propagation {
 public:
  Propagation(const Distribution& distribution, const TimeSteps& steps, std::vector<double> states,
              std::span<const double> x_bohr)
      : distribution_(distribution),
        steps_(steps),
        x_bohr_(x_bohr),
        series_(series_for(steps.lowest_hartree, distribution.highest_hartree, steps.step_au)),
        state_(std::move(states)),
        other_(state_.size()),
        sum_(distribution.owned_count * distribution.width) {
    distribution.attach(state_.data());
    distribution.attach(other_.data());
  }

  Motion run() {
    Motion motion{steps_.step_au, {}, 0};
    measure(motion);
    for (int i = 0; i < steps_.count; ++i) {
      step();
      measure(motion);
    }
    return motion;
  }

 private:
  void step() {
    std::fill(sum_.begin(), sum_.end(), 0.0);
    add(series_.coefficients[0]);
    for (std::size_t k = 1; k < series_.coefficients.size(); ++k) {
      const double scale = (k == 1 ? 1 : 2) / series_.half_width;
      distribution_.apply({scale, series_.center, k == 1 ? 0.0 : -1.0}, state_.data(), other_.data());
      std::swap(state_, other_);
      add(series_.coefficients[k]);
    }
    std::copy(sum_.begin(), sum_.end(), state_.begin());
  }

  void add(const Complex& coefficient) {
    const double re = coefficient.real(), im = coefficient.imag();
    for (std::size_t i = 0; i < sum_.size(); i += 2) {
      sum_[i] += re * state_[i] - im * state_[i + 1];
      sum_[i + 1] += re * state_[i + 1] + im * state_[i];
    }
  }

  void measure(Motion& motion) const {
    std::array<double, 2> sums{};  // of the position and of the norm
    const std::size_t width = distribution_.width;
    for (std::size_t i = 0; i < x_bohr_.size(); ++i) {
      const double* values = &state_[i * width];
      const double density = std::inner_product(values, values + width, values, 0.0);
      sums[0] += density * x_bohr_[i];
      sums[1] += density;
    }
    distribution_.sum_over_ranks(sums);
    motion.position_bohr.push_back(sums[0]);
    const double states = static_cast<double>(width) / 2;
    motion.norm_error = std::max(motion.norm_error, std::abs(sums[1] - states) / states);
  }

  const Distribution& distribution_;
  const TimeSteps steps_;
  const std::span<const double> x_bohr_;
  const Series series_;
  std::vector<double> state_;
  std::vector<double> other_;
  std::vector<double> sum_;
};

}  // namespace

std::vector<double> kicked(std::span<const double> states, std::size_t width, std::size_t count, std::size_t slots,
                           std::span<const double> x_bohr, double kick_per_bohr) {
  std::vector<double> moving(slots * 2 * count, 0.0);
  for (std::size_t i = 0; i < x_bohr.size(); ++i) {
    const Complex factor = std::polar(1.0, kick_per_bohr * x_bohr[i]);
    for (std::size_t k = 0; k < count; ++k) {
      moving[(i * count + k) * 2] = states[i * width + k] * factor.real();
      moving[(i * count + k) * 2 + 1] = states[i * width + k] * factor.imag();
    }
  }
  return moving;
}

Motion propagate(const Distribution& distribution, const TimeSteps& steps, std::vector<double> states,
                 std::span<const double> x_bohr) {
  return Propagation(distribution, steps, std::move(states), x_bohr).run();
}

std::vector<SpectrumPoint> spectrum(const Motion& motion, double kick_per_bohr, double highest_hartree) {
  constexpr int kPoints = 1000;
  const auto steps = static_cast<double>(motion.position_bohr.size() - 1);
  std::vector<SpectrumPoint> points;
  for (int n = 1; n <= kPoints; ++n) {
    const double energy = highest_hartree * n / kPoints;
    double transform = 0;
    for (std::size_t i = 0; i < motion.position_bohr.size(); ++i) {
      const double share = static_cast<double>(i) / steps;
      const double damping = 1 - 3 * share * share + 2 * share * share * share;
      const double time = static_cast<double>(i) * motion.time_step_au;
      transform += damping * (motion.position_bohr[i] - motion.position_bohr[0]) * std::sin(energy * time);
    }
    points.push_back({energy, 2 * energy / std::numbers::pi * transform * motion.time_step_au / kick_per_bohr});
  }
  return points;
}

}  // namespace realspace
