// Decides how long a wait offers a processor that ranks of the node share, before it sleeps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fab::core {

/// A caller that waits polls, and offers the processor to the other ranks (sched_yield) between two polls. Those that
/// wait, too, give it back within some us. Then it goes on for as long as on a processor of its own: that takes nothing
/// from the others, and finds what comes 50 us and more sooner than a sleep. One that computes keeps the processor for
/// some ms: then the caller sleeps soon, since Linux prefers those that wake up to those that yield. Times are in ns,
/// on one clock.
class SharedWait {
 public:
  using Time = std::int64_t;

  static constexpr Time kFew = 500'000;   ///< a few turns of each rank
  static constexpr Time kKept = 500'000;  ///< by a rank that does not wait

  void begin(Time now) noexcept {
    begin_ = offered_ = now;
    others_wait_ = true;
  }
  /// Whether it offers the processor now. `longest`: of a wait on a processor of its own.
  [[nodiscard]] bool goes_on(Time now, Time longest) noexcept {
    if (now - std::exchange(offered_, now) >= kKept) others_wait_ = false;
    return now - begin_ < (others_wait_ ? std::max(kFew, longest) : kFew);
  }

 private:
  Time begin_ = 0;
  Time offered_ = 0;  ///< the last time
  bool others_wait_ = true;
};

}  // namespace fab::core
