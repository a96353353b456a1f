// Followers: callers that wait while another caller polls. They sleep until it reports that an operation has ended.
// Event loops of the application are told through a descriptor.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>

#include "core/base/mutex.h"

namespace fab::core {

/// From any thread, with a lock of its own, which may be taken under the engine's.
class Followers {
 public:
  /// What a follower has seen; each notice has another.
  using Epoch = std::uint64_t;

  Followers() = default;
  ~Followers();
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  void join() noexcept { count_.fetch_add(1); }
  void leave() noexcept { count_.fetch_sub(1); }
  [[nodiscard]] Epoch epoch();
  /// Returns when there is a later notice than the one that was seen, or after so long; the last one.
  [[nodiscard]] Epoch wait(Epoch seen, std::chrono::milliseconds limit);
  void notify() noexcept;

  /// A descriptor that each notice makes readable. The first call makes it, one at a time, readable: there may have
  /// been notices before. Throws Error(no_resources).
  [[nodiscard]] int descriptor();
  /// Notices make a duplicate of `fd` readable, unless there is a descriptor. Throws Error(no_resources).
  void share_descriptor(int fd);
  /// Reads it, if there is one.
  void clear_descriptor() noexcept;

 private:
  std::atomic<int> count_{0};  ///< one more if there is a descriptor, so that no thread looks for one in vain
  std::atomic<int> descriptor_{-1};
  Mutex mutex_;
  std::condition_variable changed_;
  Epoch epoch_ FAB_GUARDED_BY(mutex_) = 0;
};

}  // namespace fab::core
