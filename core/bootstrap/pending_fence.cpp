#include "core/bootstrap/pending_fence.h"

#include <algorithm>
#include <chrono>

namespace fab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kIdlePeriod{1};
/// Without an idle function nothing but the fence or the deadline ends a wait.
constexpr std::chrono::hours kNoIdlePeriod{1};
/// Longer time-outs are no limit: the clock's integers could not hold them all.
constexpr double kLongestTimeout_s = 1e9;

Clock::time_point deadline_after(double timeout_s) {
  if (timeout_s > kLongestTimeout_s) return Clock::time_point::max();
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::max(timeout_s, 0.0)));
}

}  // namespace

void PendingFence::complete(const std::string& failure) {
  const core::MutexLock lock(mutex_);
  is_complete_ = true;
  failure_ = failure;
  completed_.notify_all();
}

bool PendingFence::wait(double timeout_s, const std::function<void()>& idle) {
  const Clock::time_point deadline = deadline_after(timeout_s);
  const Clock::duration period = idle ? Clock::duration(kIdlePeriod) : Clock::duration(kNoIdlePeriod);
  while (true) {
    {
      const core::MutexLock lock(mutex_);
      if (!is_complete_) completed_.wait_until(mutex_, std::min(deadline, Clock::now() + period));
      if (is_complete_) return true;
    }
    if (Clock::now() >= deadline) return false;
    if (idle) idle();
  }
}

std::string PendingFence::failure() {
  const core::MutexLock lock(mutex_);
  return failure_;
}

}  // namespace fab
