// A clock that a test turns.
#pragma once

#include <atomic>
#include <chrono>

#include "core/watch.h"

namespace fab::test {

/// All tests of a process share it.
class TurnedClock {
 public:
  static core::Watch::Clock::time_point now() { return core::Watch::Clock::time_point(std::chrono::milliseconds(ms_)); }
  static void turn(std::chrono::milliseconds by) { ms_ += by.count(); }

 private:
  inline static std::atomic<std::int64_t> ms_ = 1'000'000;
};

}  // namespace fab::test
