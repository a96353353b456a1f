// The observers of calls on requests, by which the drop-in library's statistics learn of them.
#pragma once

#include <atomic>
#include <chrono>

namespace fab::mpi {

/// Learns of the starts of a persistent exchange.
class StartObserver {
 public:
  virtual ~StartObserver() = default;
  /// One that succeeded.
  virtual void started(std::chrono::nanoseconds took) noexcept = 0;
};

/// Learns of the calls that complete requests while fab has some in flight. Null: none is measured.
using CompletionObserver = void (*)(std::chrono::nanoseconds took) noexcept;
inline constinit std::atomic<CompletionObserver> completion_observer{nullptr};

/// From such a call's begin to its end.
class ObservedCompletion {
 public:
  ObservedCompletion() noexcept : observer_(completion_observer.load(std::memory_order_relaxed)) {
    if (observer_ != nullptr) begin_ = std::chrono::steady_clock::now();
  }
  ~ObservedCompletion() {
    if (observer_ != nullptr) observer_(std::chrono::steady_clock::now() - begin_);
  }
  ObservedCompletion(const ObservedCompletion&) = delete;
  ObservedCompletion& operator=(const ObservedCompletion&) = delete;

 private:
  CompletionObserver observer_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace fab::mpi
