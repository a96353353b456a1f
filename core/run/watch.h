// Watches operations that callers wait for: implements FAB_WAIT_TIMEOUT, and reports operations that make no progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "core/base/ticks.h"
#include "core/progress/pending.h"

namespace fab::core {

class Runtime;

/// Notices when what a caller waits for stops moving. After Refusals::kAskAfter it has the peers asked whether they
/// have refused their call; after a minute it says in the log what is pending, once; after FAB_WAIT_TIMEOUT it ends
/// them with Errc::timed_out.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds kSayAfter{60};
  /// Between two looks, in nanoseconds.
  static constexpr std::int64_t kLookEvery = 1'000'000;

  /// Null entries are passed over; entries may become null while the watch lives.
  Watch(std::span<Pending* const> all, Runtime& runtime);
  /// With another time-out; 0: none.
  Watch(std::span<Pending* const> all, Runtime& runtime, double timeout_s);

  /// Call while nothing happens, without the engine's lock. Looks at most once in about a millisecond.
  void check() {
    if (ticks() - looked_at_ >= ticks_in(kLookEvery)) look();
  }
  void look();

 private:
  void restart();
  [[nodiscard]] std::uint64_t settled() const;
  void expire(Pending& pending) const;
  void ask();
  void say();

  std::span<Pending* const> all_;
  Runtime& runtime_;
  double timeout_s_;
  std::uint64_t looked_at_;
  std::uint64_t seen_ = 0;
  Clock::time_point since_;  ///< nothing has happened, as far as looks tell
  bool started_ = false;
  bool said_ = false;
};

/// Notices when what a caller tests again and again stops moving, as Watch does for those who wait: after
/// Refusals::kAskAfter the peers are asked whether they have refused their call. Call when it was found not to be done,
/// without the engine's lock. Null entries are passed over. Looks at most once in about a millisecond.
void watch_tested(std::span<Pending* const> all);
inline void watch_tested(Pending& pending) {
  Pending* const all[] = {&pending};
  watch_tested(all);
}
/// watch_tested() that looks at once.
void look_at_tested(Pending& pending);
/// watch_tested() for what several threads test: `tested` is theirs in common.
void watch_tested(Pending& pending, Tested& tested) FAB_REQUIRES(engine_lock);

}  // namespace fab::core
