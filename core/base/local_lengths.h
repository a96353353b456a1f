// The lengths from which on messages between ranks of a node take another way, as rules files have them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fab {

/// The longest messages that are copied into the ring, in bytes, by what is known of their memory: up to
/// kMostCopiedWhole before their receivers ask for them, longer ones when they do, chunk by chunk. Beyond that messages
/// are read or mapped (docs/lab/within-a-node.md).
struct LongestCopied {
  std::uint64_t unknown = 0;
  std::uint64_t changing = 0;  ///< the program writes it anew between its posts
  std::uint64_t constant = 0;

  [[nodiscard]] constexpr std::uint64_t least() const noexcept { return std::min({unknown, changing, constant}); }
  [[nodiscard]] constexpr std::uint64_t most() const noexcept { return std::max({unknown, changing, constant}); }
  bool operator==(const LongestCopied&) const = default;
};

struct LocalLengths {
  LongestCopied program;  ///< of memory that only the sender maps, which the kernel copies
  LongestCopied fab;      ///< of fab's own, which the receiver maps

  bool operator==(const LocalLengths&) const = default;
};

/// What a rules file may have: the first does not fit into a cell, and a ring has room for two of the second, which is
/// the most for messages that change not at all, or perhaps. The third is for those that change.
constexpr std::uint64_t kLeastLongestCopied = 128;
constexpr std::uint64_t kMostCopiedWhole = 96 * 1024;
constexpr std::uint64_t kMostLongestCopied = 1024 * 1024;

}  // namespace fab
