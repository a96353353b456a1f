// The lengths from which on messages between ranks of a node take another way.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/config.h"
#include "core/base/local_lengths.h"
#include "providers/local/message_history.h"
#include "providers/local/ring.h"
#include "providers/local/shared_area.h"

namespace fab::local {

/// Of a message that belongs to the head which travels ahead of it.
constexpr std::uint64_t kHeadBytes = 64;

/// Without a rules file that has others. They suit an Intel Xeon and an AMD EPYC; `fab_tune measure` finds those of
/// other processors.
inline constexpr LocalLengths kBuiltInLengths{
    .program = {.unknown = 16 * 1024 + kHeadBytes, .changing = 256 * 1024 + kHeadBytes, .constant = 7 * 1024},
    .fab = {.unknown = 16 * 1024 + kHeadBytes, .changing = 128 * 1024 + kHeadBytes, .constant = 2047}};

[[nodiscard]] constexpr std::uint64_t longest(const LongestCopied& copied, Change change) noexcept {
  return change == Change::unknown ? copied.unknown : change == Change::changing ? copied.changing : copied.constant;
}

inline constexpr LongestCopied kRead{Cell::kInlineBytes, Cell::kInlineBytes, Cell::kInlineBytes};
inline constexpr LongestCopied kCopied{32 * 1024, 32 * 1024, 32 * 1024};
inline constexpr LongestCopied kMapped{511, 511, 511};
inline constexpr LongestCopied kNeverMapped{~0ull, ~0ull, ~0ull};

/// Where the kernel copies longer ones.
constexpr LongestCopied longest_copied(LocalLong way, const LocalLengths& lengths = kBuiltInLengths) noexcept {
  return way == LocalLong::read ? kRead : way == LocalLong::ring ? kCopied : lengths.program;
}

/// Where the receiver maps the sender's memory, and copies longer ones from there.
constexpr LongestCopied longest_copied_of_mapped(LocalLong way,
                                                 const LocalLengths& lengths = kBuiltInLengths) noexcept {
  return way == LocalLong::automatic ? lengths.fab : way == LocalLong::map ? kMapped : kNeverMapped;
}
static_assert(kBuiltInLengths.program.most() <= kMostLongestCopied);
static_assert(kBuiltInLengths.fab.most() <= kMostLongestCopied);
static_assert(kMostCopiedWhole <= Ring::kLongestStretch && kLeastLongestCopied >= Cell::kInlineBytes);
static_assert(longest_copied(LocalLong::ring).most() <= Ring::kLongestStretch);

/// The longest message that is copied once for several ranks; 0: none is. Up to here two copies cost less than several
/// readers of the same memory in the kernel (docs/lab/collectives.md).
constexpr std::uint64_t longest_shared(LocalLong way) noexcept { return way == LocalLong::automatic ? 64 * 1024 : 0; }
static_assert(longest_shared(LocalLong::automatic) <= SharedArea::kQuarterBytes);

/// Up to here a message of which nothing is known is copied into the ring by its post, wherever it lies.
constexpr std::uint64_t longest_copied_at_once(LocalLong way, const LocalLengths& lengths) noexcept {
  return std::min(longest_copied(way, lengths).unknown, longest_copied_of_mapped(way, lengths).unknown);
}
/// And so is one of which anything is known.
constexpr std::uint64_t longest_always_copied_at_once(LocalLong way, const LocalLengths& lengths) noexcept {
  return std::min(longest_copied(way, lengths).least(), longest_copied_of_mapped(way, lengths).least());
}

}  // namespace fab::local
