// The counters of a context, which count off the fast paths, for tests, people and fab_info.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace fab::core {

enum class Counter : std::uint8_t {
  caller_sleeps,
  thread_sleeps,
  woken_callers,
  late_wake_ups,
  strangers,
};

struct CounterRow {
  Counter counter;
  const char* name;
  const char* description;
};

/// One row for each counter, in their order.
[[nodiscard]] std::span<const CounterRow> counter_rows() noexcept;

/// From any thread.
class Counters {
 public:
  void count(Counter counter) noexcept { at(counter).fetch_add(1, std::memory_order_relaxed); }
  void set(Counter counter, std::uint64_t value) noexcept { at(counter).store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t operator[](Counter counter) const noexcept {
    return values_[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
  }
  /// The counters that are not 0, in one line: "caller_sleeps 12, late_wake_ups 1".
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::strangers) + 1;

  std::atomic<std::uint64_t>& at(Counter counter) noexcept { return values_[static_cast<std::size_t>(counter)]; }

  std::array<std::atomic<std::uint64_t>, kCounters> values_{};
};

}  // namespace fab::core
