// Tags of messages that fab sends for itself, beside those of its users.
#pragma once

#include <cstdint>
#include <string>

#include "fab/message.h"

namespace fab::core {

/// Below kAnyTag: no user can give such a tag. It tells apart the last 2^30 places in the order of a communicator's
/// calls.
[[nodiscard]] constexpr Tag own_tag(std::uint64_t place) noexcept {
  constexpr std::uint64_t kPlaces = 1u << 30;
  return Tag{-2 - static_cast<int>(place % kPlaces)};
}

[[nodiscard]] constexpr bool is_own(Tag tag) noexcept { return tag < kAnyTag; }

/// Whether a receive or probe of that tag matches the message's: one of any tag matches those of users only.
[[nodiscard]] constexpr bool matches(Tag wanted, Tag message) noexcept {
  return wanted == message || (wanted == kAnyTag && !is_own(message));
}

/// For messages to people.
[[nodiscard]] inline std::string text_of(Tag tag) {
  if (is_own(tag)) return "fab's own";
  return tag == kAnyTag ? "any" : std::to_string(static_cast<int>(tag));
}

}  // namespace fab::core
