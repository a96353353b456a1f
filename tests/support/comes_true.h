// Waits for conditions that another thread, or another rank, makes true.
#pragma once

#include <chrono>
#include <thread>

#include "support/time_limit.h"

namespace fab::test {

/// Waits without a call into fab; false after far too long.
template <class Condition>
[[nodiscard]] bool comes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(time_limit_s(10));
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace fab::test
