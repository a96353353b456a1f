// How clocks are fitted to each other: simulated clocks with offset and drift, messages with and without noise.
#include "bindings/tools/trace/clock_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fab::test {
namespace {

using tools::ClockBound;
using tools::ClockFit;
using tools::fit_clock;

/// Clock A shows that of B plus base + drift * t. Messages need `least_ns` and a random time more.
class TwoClocks {
 public:
  TwoClocks(double base, double drift, double least_ns, double noise_ns, unsigned seed)
      : base_(base), drift_(drift), least_ns_(least_ns), noise_(0, noise_ns), random_(seed) {}

  [[nodiscard]] double offset(double time) const { return base_ + drift_ * time; }
  /// Sent by A when B's clock shows `time`.
  void from_a(double time) {
    const double came = time + delay();
    below.push_back({came, time + offset(time) - came});
  }
  /// Sent by B.
  void from_b(double time) {
    const double came = time + delay();
    above.push_back({time, came + offset(came) - time});
  }
  [[nodiscard]] double error(const ClockFit& fit, double time) const {
    return std::abs(fit.offset(time) - offset(time));
  }

  std::vector<ClockBound> below;
  std::vector<ClockBound> above;

 private:
  double delay() { return least_ns_ + noise_(random_); }

  double base_;
  double drift_;
  double least_ns_;
  std::uniform_real_distribution<double> noise_;
  std::mt19937 random_;
};

constexpr double kSecond = 1e9;

TEST(ClockFitting, FindsAnOffsetBetweenTwoMessages) {
  const std::vector<ClockBound> below{{100, 40}};
  const std::vector<ClockBound> above{{100, 60}};
  const ClockFit fit = fit_clock(below, above);
  EXPECT_EQ(fit.kind, ClockFit::Kind::between);
  EXPECT_DOUBLE_EQ(fit.offset(100), 50);
  EXPECT_DOUBLE_EQ(fit.half_width, 10);
  EXPECT_DOUBLE_EQ(fit.drift, 0) << "nothing tells of one";
}

TEST(ClockFitting, FindsADriftWithoutNoise) {
  constexpr double kBase = -3.7e14;
  constexpr double kDrift = 35e-6;
  TwoClocks clocks(kBase, kDrift, 5000, 0, 1);
  for (int i = 0; i <= 10; ++i) {
    clocks.from_a(i * kSecond);
    clocks.from_b(i * kSecond + 1000);
  }
  const ClockFit fit = fit_clock(clocks.below, clocks.above);
  EXPECT_EQ(fit.kind, ClockFit::Kind::between);
  EXPECT_NEAR(fit.drift, kDrift, 1e-9);
  EXPECT_NEAR(fit.half_width, 5000, 1);
  for (const double time : {0.0, 5 * kSecond, 10 * kSecond}) EXPECT_LT(clocks.error(fit, time), 5);
}

class NoisyClocks : public testing::TestWithParam<unsigned> {};

TEST_P(NoisyClocks, AreFittedWithinTheErrorThatTheFitNames) {
  const unsigned seed = GetParam();
  std::mt19937 random(seed);
  const double drift = std::uniform_real_distribution<double>(-2e-4, 2e-4)(random);
  const double base = std::uniform_real_distribution<double>(-1e15, 1e15)(random);
  TwoClocks clocks(base, drift, 2000, 50'000, seed);
  std::uniform_real_distribution<double> times(0, 20 * kSecond);
  for (int i = 0; i < 2000; ++i) {
    clocks.from_a(times(random));
    clocks.from_b(times(random));
  }
  const ClockFit fit = fit_clock(clocks.below, clocks.above);
  ASSERT_EQ(fit.kind, ClockFit::Kind::between);
  EXPECT_NEAR(fit.drift, drift, 1e-7);
  for (double time = 0; time <= 20 * kSecond; time += kSecond) EXPECT_LE(clocks.error(fit, time), fit.half_width + 1);
  for (const ClockBound& bound : clocks.below) EXPECT_GT(fit.offset(bound.time), bound.offset);
  for (const ClockBound& bound : clocks.above) EXPECT_LT(fit.offset(bound.time), bound.offset);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NoisyClocks, testing::Range(1u, 21u));

TEST(ClockFitting, OnlyBoundsWhatGoesOneWay) {
  TwoClocks clocks(1e6, 0, 100, 1000, 3);
  for (int i = 0; i < 50; ++i) clocks.from_a(i * 1e6);
  const ClockFit below = fit_clock(clocks.below, {});
  EXPECT_EQ(below.kind, ClockFit::Kind::from_below);
  for (const ClockBound& bound : clocks.below) EXPECT_GE(below.offset(bound.time), bound.offset);
  for (int i = 0; i < 50; ++i) clocks.from_b(i * 1e6);
  const ClockFit above = fit_clock({}, clocks.above);
  EXPECT_EQ(above.kind, ClockFit::Kind::from_above);
  for (const ClockBound& bound : clocks.above) EXPECT_LE(above.offset(bound.time), bound.offset);
  EXPECT_LT(below.offset(0), above.offset(0));
}

TEST(ClockFitting, SaysThatNothingIsKnown) { EXPECT_EQ(fit_clock({}, {}).kind, ClockFit::Kind::none); }

TEST(ClockFitting, SaysThatAClockWasSet) {
  TwoClocks before(0, 0, 1000, 0, 1);
  TwoClocks after(5e6, 0, 1000, 0, 1);
  for (int i = 0; i < 10; ++i) {
    before.from_a(i * kSecond);
    before.from_b(i * kSecond);
    after.from_a((10 + i) * kSecond);
    after.from_b((10 + i) * kSecond);
  }
  before.below.insert(before.below.end(), after.below.begin(), after.below.end());
  before.above.insert(before.above.end(), after.above.begin(), after.above.end());
  const ClockFit fit = fit_clock(before.below, before.above);
  EXPECT_EQ(fit.kind, ClockFit::Kind::contradicted);
  EXPECT_LT(fit.half_width, 0);
  EXPECT_LE(std::abs(fit.drift), tools::kMostDrift);
}

TEST(ClockFitting, TakesMessagesAtOneTime) {
  const std::vector<ClockBound> below{{5, 1}, {5, 3}, {5, 2}};
  const std::vector<ClockBound> above{{5, 9}, {5, 7}};
  const ClockFit fit = fit_clock(below, above);
  EXPECT_EQ(fit.kind, ClockFit::Kind::between);
  EXPECT_DOUBLE_EQ(fit.offset(5), 5);
}

}  // namespace
}  // namespace fab::test
