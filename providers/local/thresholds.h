// The lengths from which on messages between ranks of a node take another way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/base/config.h"
#include "providers/local/ring.h"
#include "providers/local/shared_area.h"

namespace fab::local {

/// Of a message that belongs to the head which travels ahead of it.
constexpr std::uint64_t kHeadBytes = 64;

/// The longest message that is copied into the ring before its receiver asks for it.
constexpr std::uint64_t longest_copied(LocalLong way) noexcept {
  switch (way) {
    case LocalLong::automatic:
    case LocalLong::map:
      // Above, reading from the other's memory is faster where that has not changed since the last time; from 512 KiB
      // on always (docs/lab/within-a-node.md).
      return 16 * 1024 + kHeadBytes;
    case LocalLong::read:
      return Cell::kInlineBytes;
    case LocalLong::ring:
      return 32 * 1024;
  }
  return 0;
}
static_assert(longest_copied(LocalLong::automatic) <= Ring::kLongestStretch);
static_assert(longest_copied(LocalLong::ring) <= Ring::kLongestStretch);

/// The shortest message that the receiver copies out of the sender's memory where it has mapped that. Programs change
/// what they send, and then must win back each cache line that the receiver has copied out: up to some length that
/// takes longer than a copy into the ring (docs/lab/within-a-node.md).
constexpr std::uint64_t least_mapped(LocalLong way) noexcept {
  switch (way) {
    case LocalLong::automatic:
      return longest_copied(way) + 1;
    case LocalLong::map:
      return 512;
    case LocalLong::read:
    case LocalLong::ring:
      break;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// The longest message that is copied into the ring, although it could be read or mapped, where the program writes it
/// anew for each post.
struct LongestRewritten {
  std::uint64_t read = 0;
  std::uint64_t mapped = 0;
};
constexpr LongestRewritten longest_rewritten(LocalLong way) noexcept {
  if (way != LocalLong::automatic) return {};
  return {.read = 64 * 1024 + kHeadBytes, .mapped = 32 * 1024 + kHeadBytes};
}
static_assert(longest_rewritten(LocalLong::automatic).read <= Ring::kLongestStretch);

/// The longest message that is copied once for several ranks; 0: none is. Up to here two copies cost less than several
/// readers of the same memory in the kernel (docs/lab/collectives.md).
constexpr std::uint64_t longest_shared(LocalLong way) noexcept { return way == LocalLong::automatic ? 64 * 1024 : 0; }
static_assert(longest_shared(LocalLong::automatic) <= SharedArea::kQuarterBytes);

/// Up to here every message is copied into the ring by its post, wherever it lies.
constexpr std::uint64_t longest_copied_at_once(LocalLong way) noexcept {
  return std::min(longest_copied(way), least_mapped(way) - 1);
}

}  // namespace fab::local
