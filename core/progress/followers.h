// Callers that wait while another one polls: they sleep until it tells them that something has ended.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace fab::core {

/// From any thread, with a lock of its own, which may be taken under the engine's.
class Followers {
 public:
  /// What a follower has seen; each notice has another.
  using Epoch = std::uint64_t;

  void join() noexcept { count_.fetch_add(1); }
  void leave() noexcept { count_.fetch_sub(1); }
  [[nodiscard]] Epoch epoch();
  /// Returns when there is a later notice than the one that was seen, or after so long; the last one.
  [[nodiscard]] Epoch wait(Epoch seen, std::chrono::milliseconds limit);
  void notify() noexcept;

 private:
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  Epoch epoch_ = 0;  ///< guarded by mutex_
};

}  // namespace fab::core
