// Counts the allocations by operator new in this program, per thread.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fab::test {

/// Allocations of the calling thread so far, those under a PausedCount left out.
[[nodiscard]] std::size_t allocation_count() noexcept;

/// The fewest allocations of the calling thread in a call of `batch`, of ten: what each call allocates is in all of
/// them, and what a wait does once in 50 ms (docs/cost.md) is not.
template <class Batch>
[[nodiscard]] std::size_t fewest_allocations(Batch&& batch) {
  std::size_t fewest = ~std::size_t{0};
  for (int i = 0; i < 10; ++i) {
    const std::size_t before = allocation_count();
    batch();
    fewest = std::min(fewest, allocation_count() - before);
  }
  return fewest;
}

/// While it lives, the calling thread's allocations are not counted: for test doubles, whose own do not matter.
class PausedCount {
 public:
  PausedCount() noexcept;
  ~PausedCount();
  PausedCount(const PausedCount&) = delete;
  PausedCount& operator=(const PausedCount&) = delete;
};

}  // namespace fab::test
