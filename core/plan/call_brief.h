// A few words for all that a caller says in a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fab::core {

/// Calls of one communicator with equal briefs, and equal CallNumbers if they have any, have the same shape
/// (CallShape), which takes longer to describe, and the same answers to the checks of their arguments. A brief names a
/// layout by where its nodes lie, so the cache that has the brief keeps the layout. Functions that make briefs of
/// different kinds have different bits 2 to 7 in the first word. All zero: the call has no brief.
struct CallBrief {
  std::array<std::uint64_t, 5> words{};

  [[nodiscard]] bool empty() const noexcept { return words[0] == 0; }
  friend bool operator==(const CallBrief&, const CallBrief&) = default;
};

/// Arrays of the caller's, such as the counts of all ranks, which are compared number by number. The brief and the
/// communicator tell which arrays there are, and how long they are.
struct CallNumbers {
  std::array<std::span<const int>, 4> arrays{};

  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t size = 0;
    for (const std::span<const int> array : arrays) size += array.size();
    return size;
  }
  /// `all`: those of another call, array after array.
  [[nodiscard]] bool are(std::span<const int> all) const noexcept {
    if (size() != all.size()) return false;
    for (const std::span<const int> array : arrays) {
      if (!std::ranges::equal(array, all.first(array.size()))) return false;
      all = all.subspan(array.size());
    }
    return true;
  }
};

}  // namespace fab::core
