// Clocks that only the test moves.
#pragma once

#include <atomic>
#include <chrono>

#include "core/run/watch.h"

namespace fab::test {

/// The test turns it. All tests of a process share it.
class TurnedClock {
 public:
  static core::Watch::Clock::time_point now() {
    const core::Watch::Clock::time_point time{std::chrono::milliseconds(ms_)};
    ++looks_;
    return time;
  }
  static void turn(std::chrono::milliseconds by) { ms_ += by.count(); }
  /// How often the clock has been read.
  [[nodiscard]] static std::uint64_t looks() { return looks_; }

 private:
  inline static std::atomic<std::int64_t> ms_ = 1'000'000;
  inline static std::atomic<std::uint64_t> looks_ = 0;
};

/// Goes on by a step with each look.
class RunningClock {
 public:
  static constexpr std::chrono::milliseconds kStep{30};

  static core::Watch::Clock::time_point now() { return core::Watch::Clock::time_point(++steps_ * kStep); }

 private:
  inline static std::atomic<std::int64_t> steps_ = 0;
};

}  // namespace fab::test
