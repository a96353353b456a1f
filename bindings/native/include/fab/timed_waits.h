// Waits that end after a time.
#pragma once

#include <chrono>

#include "fab/result.h"

namespace fab::detail {

/// So long after now; for ever where the clock cannot tell.
template <class Number, class Period>
[[nodiscard]] std::chrono::steady_clock::time_point time_after(std::chrono::duration<Number, Period> time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(time) >= Clock::time_point::max() - now) return Clock::time_point::max();
  return now + std::chrono::ceil<Clock::duration>(time);
}

/// The waits for so long, of what can be waited for until a time.
template <class Self>
class TimedWaits {
 public:
  /// Waits for so long at most: whether it is complete. If it is not, it stays active. Throws like wait, but for
  /// timed_out: the caller's limit stands for FAB_WAIT_TIMEOUT.
  template <class Number, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Number, Period> time) {
    return static_cast<Self&>(*this).wait_until(time_after(time));
  }
  /// The same without exceptions.
  template <class Number, class Period>
  [[nodiscard]] Result<bool> try_wait_for(std::chrono::duration<Number, Period> time) {
    return static_cast<Self&>(*this).try_wait_until(time_after(time));
  }
};

}  // namespace fab::detail
