// Time limits of tests that wait for something. They are safety nets: they end a test that hangs, and no other verdict
// depends on them.
#pragma once

#include <cstdlib>

namespace fab::test {

/// So many seconds; TEST_PATIENCE times as many where it is known that the machine does other things, too: see
/// tests/run --loaded.
[[nodiscard]] inline double patience_s(double seconds) noexcept {
  const char* const factor = std::getenv("TEST_PATIENCE");
  return factor == nullptr ? seconds : seconds * std::atof(factor);
}

}  // namespace fab::test
