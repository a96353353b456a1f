#include "core/progress/task_queue.h"

#include <unistd.h>

#include <cstdint>
#include <utility>

namespace fab::core {

void TaskQueue::push(Task task) {
  const MutexLock lock(mutex_);
  tasks_.push_back(std::move(task));
  has_tasks_.store(true, std::memory_order_release);
  raise_once();
}

std::vector<TaskQueue::Task> TaskQueue::take(bool keep_raised) {
  std::vector<Task> tasks;
  const MutexLock lock(mutex_);
  tasks.swap(tasks_);
  has_tasks_.store(false, std::memory_order_release);
  if (!keep_raised) drain();
  return tasks;
}

bool TaskQueue::open_wake_up() {
  const MutexLock lock(mutex_);
  return open_event(wake_up_);
}

void TaskQueue::wake() {
  const MutexLock lock(mutex_);
  raise_once();
}

void TaskQueue::woken() {
  const MutexLock lock(mutex_);
  if (tasks_.empty()) drain();
}

void TaskQueue::raise_once() noexcept {
  if (wake_up_.fd < 0 || std::exchange(raised_, true)) return;
  raise(wake_up_);
}

void TaskQueue::drain() noexcept {
  if (!std::exchange(raised_, false)) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = ::read(wake_up_.fd, &count, sizeof(count));
}

}  // namespace fab::core
