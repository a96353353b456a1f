// The lengths from which on messages between ranks of a node take another way.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/config.h"
#include "providers/local/message_history.h"
#include "providers/local/ring.h"
#include "providers/local/shared_area.h"

namespace fab::local {

/// Of a message that belongs to the head which travels ahead of it.
constexpr std::uint64_t kHeadBytes = 64;

/// The longest messages that are copied into the ring before their receivers ask for them, by what is known of their
/// memory. Longer ones are announced, and read or mapped (docs/lab/within-a-node.md).
struct LongestCopied {
  std::uint64_t unknown;
  std::uint64_t changing;
  std::uint64_t constant;

  [[nodiscard]] constexpr std::uint64_t operator[](Change change) const noexcept {
    return change == Change::unknown ? unknown : change == Change::changing ? changing : constant;
  }
  [[nodiscard]] constexpr std::uint64_t least() const noexcept { return std::min({unknown, changing, constant}); }
  [[nodiscard]] constexpr std::uint64_t most() const noexcept { return std::max({unknown, changing, constant}); }
};

inline constexpr LongestCopied kCopiedOrRead{
    .unknown = 16 * 1024 + kHeadBytes, .changing = 64 * 1024 + kHeadBytes, .constant = 7 * 1024};
inline constexpr LongestCopied kRead{Cell::kInlineBytes, Cell::kInlineBytes, Cell::kInlineBytes};
inline constexpr LongestCopied kCopied{32 * 1024, 32 * 1024, 32 * 1024};
inline constexpr LongestCopied kCopiedOrMapped{
    .unknown = 16 * 1024 + kHeadBytes, .changing = 32 * 1024 + kHeadBytes, .constant = 2047};
inline constexpr LongestCopied kMapped{511, 511, 511};
inline constexpr LongestCopied kNeverMapped{~0ull, ~0ull, ~0ull};

/// Where the kernel copies longer ones.
constexpr const LongestCopied& longest_copied(LocalLong way) noexcept {
  return way == LocalLong::read ? kRead : way == LocalLong::ring ? kCopied : kCopiedOrRead;
}

/// Where the receiver maps the sender's memory, and copies longer ones from there.
constexpr const LongestCopied& longest_copied_of_mapped(LocalLong way) noexcept {
  return way == LocalLong::automatic ? kCopiedOrMapped : way == LocalLong::map ? kMapped : kNeverMapped;
}
static_assert(longest_copied(LocalLong::automatic).most() <= Ring::kLongestStretch);
static_assert(longest_copied(LocalLong::ring).most() <= Ring::kLongestStretch);
static_assert(longest_copied_of_mapped(LocalLong::automatic).most() <= Ring::kLongestStretch);

/// The longest message that is copied once for several ranks; 0: none is. Up to here two copies cost less than several
/// readers of the same memory in the kernel (docs/lab/collectives.md).
constexpr std::uint64_t longest_shared(LocalLong way) noexcept { return way == LocalLong::automatic ? 64 * 1024 : 0; }
static_assert(longest_shared(LocalLong::automatic) <= SharedArea::kQuarterBytes);

/// Up to here a message of which nothing is known is copied into the ring by its post, wherever it lies.
constexpr std::uint64_t longest_copied_at_once(LocalLong way) noexcept {
  return std::min(longest_copied(way).unknown, longest_copied_of_mapped(way).unknown);
}
/// And so is one of which anything is known.
constexpr std::uint64_t longest_always_copied_at_once(LocalLong way) noexcept {
  return std::min(longest_copied(way).least(), longest_copied_of_mapped(way).least());
}

}  // namespace fab::local
