// The queue of tasks that other threads give to a driver, and the descriptor that wakes a driver that sleeps.
#pragma once

#include <poll.h>

#include <atomic>
#include <functional>
#include <vector>

#include "core/base/events.h"
#include "core/base/mutex.h"

namespace fab::core {

/// From any thread, with a lock of its own, which may be taken under the engine's.
class TaskQueue {
 public:
  using Task = std::function<void()>;

  TaskQueue() = default;
  ~TaskQueue() { close_event(wake_up_); }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void push(Task task);
  [[nodiscard]] bool empty() const noexcept { return !has_tasks_.load(std::memory_order_acquire); }
  /// All there are. `keep_raised`: a driver that sleeps has to see the descriptor itself.
  [[nodiscard]] std::vector<Task> take(bool keep_raised);

  /// Makes the descriptor unless there is one; returns whether there is one. A task that came before is seen by
  /// empty(), later ones raise it. Many ranks of one process that never sleep would have no descriptors left, so it is
  /// made before the first sleep.
  [[nodiscard]] bool open_wake_up();
  /// Readable: the thread was called. -1 before open_wake_up().
  [[nodiscard]] pollfd wake_up() const noexcept { return wake_up_; }
  void wake();
  /// A driver has slept there: resets the descriptor, unless there is something to do.
  void woken();

 private:
  void raise_once() noexcept FAB_REQUIRES(mutex_);
  void drain() noexcept FAB_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Task> tasks_ FAB_GUARDED_BY(mutex_);
  bool raised_ FAB_GUARDED_BY(mutex_) = false;
  pollfd wake_up_ = kNoEvent;  ///< changes once, under both locks
  std::atomic<bool> has_tasks_{false};
};

}  // namespace fab::core
