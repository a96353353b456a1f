// Types of point-to-point communication: tags, sources, destinations and send modes (MPI-4.1, 3.2 and 3.4).
#pragma once

#include <cstddef>

#include "fab/topology.h"

namespace fab {

/// Tells messages between the same two ranks apart: fab::Tag{7}. Valid tags are 0 to 2^31 - 1. It has a type of its own
/// so that no call takes a tag for a rank.
enum class Tag : int {};

inline constexpr Rank kAnySource = -1;  ///< in receives and probes: any rank
inline constexpr Tag kAnyTag{-1};       ///< in receives and probes: any tag
/// No rank, as beyond a border: a send to it sends nothing, and a receive from it takes no bytes (MPI-4.1, 3.10).
inline constexpr Rank kNoRank = -2;

/// The receiver of a message.
struct Destination {
  Rank rank = kNoRank;  ///< of the communicator; kNoRank: nothing is sent
  Tag tag{};            ///< 0 to 2^31 - 1
};

/// The messages that a receive or probe matches.
struct Source {
  Rank rank = kAnySource;  ///< of the communicator, kAnySource, or kNoRank, from which no bytes come
  Tag tag = kAnyTag;       ///< 0 to 2^31 - 1, or kAnyTag

  bool operator==(const Source&) const = default;  ///< the same rank and tag; kAnySource equals only itself
};

/// When a send is complete. From then on the caller may write to its memory.
enum class SendMode : unsigned char {
  standard,     ///< a short message: when it is on its way; a long one: when a receive has taken it
  buffered,     ///< at once: the message is copied
  synchronous,  ///< when a receive has matched the message
  ready         ///< as synchronous; fails with Errc::mismatch unless a receive was waiting when the message came in
};

/// Source, tag and size of a message that a receive took, or that a probe found.
struct MessageInfo {
  Rank source = kNoRank;  ///< the rank that sent it; kNoRank: there is no message
  Tag tag = kAnyTag;      ///< the tag that the sender gave it
  std::size_t bytes = 0;  ///< its size, which may be less than the receive has room for

  /// The number of whole elements of type T.
  template <class T>
  [[nodiscard]] std::size_t count() const noexcept {
    return bytes / sizeof(T);
  }
  bool operator==(const MessageInfo&) const = default;  ///< the same source, tag and size
};

}  // namespace fab
