// The mutex of an engine. Threads that share an engine hold it for a few hundred ns at a time, many times in a call.
#pragma once

#include <atomic>
#include <mutex>

namespace fab::core {

/// Tells the processor that this thread looks again and again for what another one writes.
inline void look_again_soon() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One who finds it locked looks again for a while before it sleeps, where so many threads have processors. Sleeping
/// and waking take ten times as long as most holds.
class EngineMutex {
 public:
  /// `spinning_threads`: of this process, at most, the one that holds it among them.
  explicit EngineMutex(int spinning_threads) noexcept : spinning_threads_(spinning_threads) {}

  void lock() {
    if (!mutex_.try_lock()) [[unlikely]]
      lock_slowly();
  }
  void unlock() { mutex_.unlock(); }
  /// Some thread waits for it.
  [[nodiscard]] bool is_wanted() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }
  /// After unlock(), of one who will lock it again soon: leaves it to those who wait.
  void give_way() const noexcept {
    for (int looks = 0; looks < kLooksOfHolder && is_wanted(); ++looks) look_again_soon();
  }

 private:
  static constexpr int kLooksOfHolder = 8;  ///< as long as a hold

  [[gnu::cold]] void lock_slowly();

  const int spinning_threads_;
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
};

}  // namespace fab::core
