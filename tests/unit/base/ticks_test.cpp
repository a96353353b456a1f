#include "core/base/ticks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace fab::test {
namespace {

using std::chrono::steady_clock;

std::int64_t ns_since(steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - begin).count();
}

// Readings of one clock lie within readings of the other, so a pause of this thread between two readings does no harm.
TEST(Ticks, AreAsFastAsMeasured) {
  core::measure_ticks();
  constexpr std::int64_t kTime = 20'000'000;
  const std::uint64_t first = core::ticks();
  const auto begin = steady_clock::now();
  const std::uint64_t inner_first = core::ticks();
  while (ns_since(begin) < kTime) {
  }
  const std::uint64_t inner_last = core::ticks();
  const std::int64_t ns = ns_since(begin);
  const std::uint64_t last = core::ticks();
  constexpr double kTolerance = 1.05;
  EXPECT_LE(static_cast<double>(core::ticks_in(kTime)), kTolerance * static_cast<double>(last - first));
  EXPECT_GE(kTolerance * static_cast<double>(core::ticks_in(ns)), static_cast<double>(inner_last - inner_first));
}

}  // namespace
}  // namespace fab::test
