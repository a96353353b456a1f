// Learns whether processes that fab knows nothing of use this rank's processor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fab::core {

/// Learns it from the time that it takes to offer the processor to others (sched_yield). Where one of them takes the
/// offer, Linux gives it a slice of some ms, while what the caller waits for may come in a us. Then the processor is
/// better not offered for a while, at first for 100 ms and for longer each time that this happens again. Any thread may
/// call any function. Times are in ns, on one clock.
class Crowding {
 public:
  using Time = std::int64_t;

  /// The processor was offered at one time and was back at the other one.
  void offered(Time from, Time to) noexcept {
    const Time pause = pause_.load(std::memory_order_relaxed);
    if (to - from < kLong) {
      if (pause != kFirstPause && to > until_.load(std::memory_order_relaxed) + pause)
        pause_.store(kFirstPause, std::memory_order_relaxed);
      return;
    }
    until_.store(to + pause, std::memory_order_relaxed);
    pause_.store(std::min(2 * pause, kLongestPause), std::memory_order_relaxed);
  }
  /// Whether others would keep the processor.
  [[nodiscard]] bool is_crowded(Time now) const noexcept { return now < until_.load(std::memory_order_relaxed); }

  static constexpr Time kLong = 500'000;
  static constexpr Time kFirstPause = 100'000'000;
  static constexpr Time kLongestPause = 10'000'000'000;

 private:
  std::atomic<Time> until_{0};
  std::atomic<Time> pause_{kFirstPause};
};

}  // namespace fab::core
