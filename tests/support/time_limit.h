// Time limits of tests that wait. They are safety nets: they end a test that hangs, and decide nothing else.
#pragma once

#include <cstdlib>

namespace fab::test {

/// So many seconds; TEST_TIME_FACTOR times as many where it is known that the machine does other things, too: see
/// tests/run --loaded.
[[nodiscard]] inline double time_limit_s(double seconds) noexcept {
  const char* const factor = std::getenv("TEST_TIME_FACTOR");
  return factor == nullptr ? seconds : seconds * std::atof(factor);
}

}  // namespace fab::test
