// The flag that keeps a sleeping rank and the ranks that publish data for it from missing each other.
#pragma once

#include <atomic>
#include <cstdint>

namespace fab::local {

/// The sleeper raises the flag and looks at what was published; a publisher looks at the flag afterwards. One of
/// the two sees the other if each look stays behind the store before it: either the sleeper's `barrier` also acts on
/// the publisher's processor (sleeping is rare and publishing is not), or the publisher makes its own (`fenced`).
template <template <class> class Atomic>
struct BasicSleepFlag {
  Atomic<std::uint32_t> up;

  template <class Barrier>
  void raise(const Barrier& barrier) noexcept {
    up.exchange(1);
    barrier();
  }
  /// Reads what publishers wrote to the flag, so that the next raise() comes after what they published.
  void lower() noexcept { up.exchange(0, std::memory_order_acq_rel); }
  /// True: the sleeper is this caller's to wake, and no other's.
  [[nodiscard]] bool claim(bool fenced) noexcept {
    if ((fenced ? up.fetch_add(0) : up.load()) == 0) return false;
    return up.exchange(0, std::memory_order_acq_rel) != 0;
  }
};
using SleepFlag = BasicSleepFlag<std::atomic>;

}  // namespace fab::local
