// A fence that this rank has entered.
#pragma once

#include <condition_variable>
#include <functional>
#include <string>

#include "core/base/mutex.h"

namespace fab {

/// Completed once, by the thread that learns that all ranks have come; waited for by one thread, perhaps in several
/// attempts.
class PendingFence {
 public:
  /// `failure`: empty when all ranks have come.
  void complete(const std::string& failure);

  /// Returns false after timeout_s seconds, which may be infinity. Calls `idle`, if there is one, about every
  /// millisecond.
  [[nodiscard]] bool wait(double timeout_s, const std::function<void()>& idle);

  /// Once wait has returned true: why the fence failed, or empty.
  [[nodiscard]] std::string failure();

 private:
  core::Mutex mutex_;
  std::condition_variable_any completed_;
  bool is_complete_ FAB_GUARDED_BY(mutex_) = false;
  std::string failure_ FAB_GUARDED_BY(mutex_);
};

}  // namespace fab
