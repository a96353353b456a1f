// Times a wait that its first polls did not end, and finds the peer that it waited for.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/progress/pending.h"

namespace fab::core {

/// Of one wait of one caller. Made when the wait goes on; it reads the clock then, and when something has happened.
class WaitClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Tests have one of their own.
  using Now = Time (*)();
  static constexpr Time kNow{};

  /// `begun`: when the wait began; kNow: now.
  explicit WaitClock(const Pending& pending, Time begun = kNow, Now now = std::chrono::steady_clock::now)
      : now_(now), begun_(begun == kNow ? now() : begun), still_since_(begun_), seen_(pending.settled_count()) {}
  /// Of a wait that began then and is over: all that has happened came now.
  static void end(Pending& pending, Time begun) FAB_REQUIRES(engine_lock);

  /// Something may have happened. The peer that ends the longest time without an event is the one that came last.
  void look(const Pending& pending) {
    const std::uint64_t settled = pending.settled_count();
    if (settled == seen_) return;
    seen_ = settled;
    const Time now = now_();
    if (now - still_since_ >= longest_) {
      longest_ = now - still_since_;
      last_ = pending.last_peer();
    }
    still_since_ = now;
  }
  /// The wait is over, whether its end was reached or not.
  void end(Pending& pending) FAB_REQUIRES(engine_lock);

 private:
  Now now_;
  Time begun_;
  Time still_since_;
  Time::duration longest_{};
  std::uint64_t seen_;
  Peer* last_ = nullptr;
};

}  // namespace fab::core
