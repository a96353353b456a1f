// Waiting for operations that are on several engines: those of a rank, or of several contexts.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/progress/engine.h"
#include "core/progress/pending.h"

namespace fab::core {

/// The engines of the operations that a caller waits for. Each is polled in turn; while the caller rests, the progress
/// threads look after them.
class SeveralEngines {
 public:
  using Clock = std::chrono::steady_clock;

  /// Null entries are passed over.
  explicit SeveralEngines(std::span<Pending* const> all);
  /// Whether there are at least two. Otherwise a Driver does it better.
  [[nodiscard]] static bool needed(std::span<Pending* const> all) noexcept;

  void poll();
  /// After a poll that has not ended the wait: offers the processor to others, and sleeps once that has taken long, but
  /// not beyond `end`.
  void rest(Clock::time_point end);

 private:
  static constexpr std::chrono::microseconds kYields{500};
  static constexpr std::chrono::microseconds kFirstNap{20};
  static constexpr std::chrono::microseconds kLongestNap{1000};

  std::vector<Engine*> engines_;
  Clock::time_point begun_ = Clock::now();
  std::chrono::microseconds nap_ = kFirstNap;
};

}  // namespace fab::core
