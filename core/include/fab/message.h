// The words of point-to-point communication: who, which tag, how (MPI-4.1, 3.2 and 3.4).
#pragma once

#include <cstddef>

#include "fab/topology.h"

namespace fab {

/// Tells messages between the same two ranks apart: 0 to 2^31 - 1.
using Tag = int;

inline constexpr Rank kAnySource = -1;  ///< receives and probes: whoever sends
inline constexpr Tag kAnyTag = -1;      ///< receives and probes: whatever the tag
/// Beyond a border: what is sent there vanishes, and what is received from there has no bytes (MPI-4.1, 3.10).
inline constexpr Rank kNoRank = -2;

/// Where a message goes.
struct Destination {
  Rank rank = kNoRank;
  Tag tag = 0;
};

/// Which messages a receive or probe takes.
struct Source {
  Rank rank = kAnySource;
  Tag tag = kAnyTag;

  bool operator==(const Source&) const = default;
};

/// When a send is complete, that is, when its memory is the caller's again.
enum class SendMode : unsigned char {
  standard,     ///< short messages: when they are on their way; long ones: when a receive has taken them
  buffered,     ///< at once, as the message is copied
  synchronous,  ///< when a receive has matched it
  ready         ///< as synchronous; fails with Errc::mismatch unless a receive was waiting when the message came
};

/// What a receive took, or a probe found.
struct MessageInfo {
  Rank source = kNoRank;
  Tag tag = kAnyTag;
  std::size_t bytes = 0;

  /// Whole elements of the type.
  template <class T>
  [[nodiscard]] std::size_t count() const noexcept {
    return bytes / sizeof(T);
  }
  bool operator==(const MessageInfo&) const = default;
};

}  // namespace fab
