#include "core/progress/followers.h"

namespace fab::core {

Followers::Epoch Followers::epoch() {
  const std::lock_guard lock(mutex_);
  return epoch_;
}

Followers::Epoch Followers::wait(Epoch seen, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return epoch_ != seen; });
  return epoch_;
}

void Followers::notify() noexcept {
  if (count_.load() == 0) return;
  {
    const std::lock_guard lock(mutex_);
    ++epoch_;
  }
  changed_.notify_all();
}

}  // namespace fab::core
