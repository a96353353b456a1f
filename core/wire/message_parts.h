// Cuts a long message into parts that are sent one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/wire/match_tag.h"

namespace fab::core {

/// The longest message that travels in one part, but through providers that take longer ones. Receives of one-part
/// messages are posted with room for this many bytes, the surplus in memory that no code reads, and a later part of a
/// longer message only ever meets a receive of its length. So no provider sees a message that is longer than its
/// receive: not all of them survive one (libfabric's TCP providers drop the connection). It is fab that compares sizes.
constexpr std::uint64_t kHeadBytes = 64 * 1024;

/// A part between the first and the last. While one travels the sender packs the next, and the receiver unpacks the one
/// before it.
constexpr std::uint64_t kMiddleBytes = 256 * 1024;

struct MessagePart {
  std::uint64_t offset = 0;  ///< in the message, its frame included
  std::uint64_t bytes = 0;
  std::uint64_t mark = 0;  ///< what its tag has more than that of the first part, which is framed

  bool operator==(const MessagePart&) const = default;
};

/// The parts of a message of so many bytes (frame included), the first one first. Depends on nothing else that could
/// differ between the two ends, so both cut alike.
[[nodiscard]] std::vector<MessagePart> parts_of(std::uint64_t message_bytes, const TagFormat& tags);

/// No write of a message that takes several into the receiver's memory is much shorter.
constexpr std::uint64_t kLeastWriteBytes = 128 * 1024;

/// As many as a write's number has room for: see OneSided.
constexpr std::size_t kMostWrites = 4;

/// The writes of a one-sided message of so many bytes, all of about one length. Both ends cut alike here, too.
[[nodiscard]] std::vector<MessagePart> writes_of(std::uint64_t message_bytes);

}  // namespace fab::core
