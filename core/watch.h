// The time-out of FAB_WAIT_TIMEOUT.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "core/pending.h"

namespace fab::core {

/// Notices when what somebody waits for stops moving, and ends them with Errc::timed_out.
class Watch {
 public:
  /// Null entries are passed over; entries may become null while the watch lives. timeout_s 0: never.
  Watch(std::span<Pending* const> all, double timeout_s) : all_(all), timeout_s_(timeout_s) { restart(); }

  /// Call while nothing happens, without the engine's lock.
  void check();

 private:
  using Clock = std::chrono::steady_clock;

  void restart();
  [[nodiscard]] std::uint64_t settled() const;
  void expire(Pending& pending) const;

  std::span<Pending* const> all_;
  double timeout_s_;
  std::uint64_t seen_ = 0;
  Clock::time_point end_;
};

}  // namespace fab::core
