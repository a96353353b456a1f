// Waits with a limit of time.
#pragma once

#include <chrono>

#include "fab/result.h"

namespace fab::detail {

/// The time `time` from now; the latest possible time if the clock cannot represent it.
template <class Number, class Period>
[[nodiscard]] std::chrono::steady_clock::time_point time_after(std::chrono::duration<Number, Period> time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(time) >= Clock::time_point::max() - now) return Clock::time_point::max();
  return now + std::chrono::ceil<Clock::duration>(time);
}

/// The waits that take a duration, for a class Self with waits until a point in time.
template <class Self>
class TimedWaits {
 public:
  /// Waits at most `time`. Returns whether the operation is complete; if not, it stays active. Throws like wait, except
  /// for timed_out: the caller's limit replaces FAB_WAIT_TIMEOUT.
  template <class Number, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Number, Period> time) {
    return static_cast<Self&>(*this).wait_until(time_after(time));
  }
  /// wait_for without exceptions.
  template <class Number, class Period>
  [[nodiscard]] Result<bool> try_wait_for(std::chrono::duration<Number, Period> time) {
    return static_cast<Self&>(*this).try_wait_until(time_after(time));
  }
};

}  // namespace fab::detail
