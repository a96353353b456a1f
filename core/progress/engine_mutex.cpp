#include "core/progress/engine_mutex.h"

#include <algorithm>

namespace fab::core {

namespace {

constexpr int kLooks = 400;  // some 20 us
constexpr int kRarest = 4;   // a look at the mutex takes it from the processor of the one who holds it

}  // namespace

void EngineMutex::lock_slowly() {
  const bool may_spin = waiting_.fetch_add(1, std::memory_order_relaxed) + 1 < spinning_threads_;
  bool locked = false;
  for (int looks = 0, pause = 1; may_spin && looks < kLooks && !locked; pause = std::min(2 * pause, kRarest)) {
    for (int i = 0; i < pause; ++i) look_again_soon();
    looks += pause;
    locked = mutex_.try_lock();
  }
  if (!locked) mutex_.lock();
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace fab::core
