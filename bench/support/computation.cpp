#include "support/computation.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bench {
namespace {

constexpr std::size_t kSide = 24;
constexpr int kMeasurements = 9;
constexpr long kTrialRounds = 2000;
constexpr double kClockPeriodUs = 1;  ///< how often the clock is looked at

using Clock = std::chrono::steady_clock;

}  // namespace

Computation::Computation() : matrix_(kSide * kSide), x_(kSide, 1.0F), y_(kSide) {
  // Rows add up to less than one, so that no value grows without bound or fades to a denormal number.
  for (std::size_t i = 0; i < matrix_.size(); ++i) matrix_[i] = static_cast<float>(i % kSide + 1) / (kSide * kSide);
  std::vector<double> trials_us;
  for (int trial = 0; trial < kMeasurements; ++trial) {
    const Clock::time_point begin = Clock::now();
    run(kTrialRounds);
    trials_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  // The least disturbed trial.
  us_per_round_ = *std::ranges::min_element(trials_us) / kTrialRounds;
}

long Computation::rounds_for(double microseconds) const {
  return std::max(1L, std::lround(microseconds / us_per_round_));
}

void Computation::run(long rounds) {
  for (long i = 0; i < rounds; ++i) round();
}

void Computation::run_for(double microseconds) {
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double, std::micro>(microseconds));
  const long rounds = rounds_for(kClockPeriodUs);
  do run(rounds);
  while (Clock::now() < end);
}

void Computation::round() {
  for (std::size_t row = 0; row < kSide; ++row) {
    float sum = 0.5F;
    for (std::size_t column = 0; column < kSide; ++column) sum += matrix_[row * kSide + column] * x_[column];
    y_[row] = sum;
  }
  x_.swap(y_);
}

}  // namespace bench
