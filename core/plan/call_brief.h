// A few words for all that a caller says in a call.
#pragma once

#include <array>
#include <cstdint>

namespace fab::core {

/// Calls of one communicator with equal briefs have the same shape (CallShape), which takes longer to describe, and the
/// same answers to the checks of their arguments. A brief names a layout by where its nodes lie, so the cache that has
/// the brief keeps the layout. Functions that make briefs of different kinds have different bits 2 to 7 in the first
/// word. All zero: the call has no brief.
struct CallBrief {
  std::array<std::uint64_t, 5> words{};

  [[nodiscard]] bool empty() const noexcept { return words[0] == 0; }
  friend bool operator==(const CallBrief&, const CallBrief&) = default;
};

}  // namespace fab::core
