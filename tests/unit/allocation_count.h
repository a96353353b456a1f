// Counts the allocations by operator new in this program, per thread.
#pragma once

#include <cstddef>

namespace fab::test {

/// Allocations of the calling thread so far, those under a PausedCount left out.
[[nodiscard]] std::size_t allocation_count() noexcept;

/// While it lives, the calling thread's allocations are not counted: for test doubles, whose own do not matter.
class PausedCount {
 public:
  PausedCount() noexcept;
  ~PausedCount();
  PausedCount(const PausedCount&) = delete;
  PausedCount& operator=(const PausedCount&) = delete;
};

}  // namespace fab::test
