#include "core/wire/message_parts.h"

#include <algorithm>

namespace fab::core {

std::vector<MessagePart> parts_of(std::uint64_t message_bytes, const TagFormat& tags) {
  std::vector<MessagePart> parts{{.offset = 0, .bytes = std::min(message_bytes, kHeadBytes)}};
  std::uint64_t offset = kHeadBytes;
  for (std::uint32_t i = 0; i < tags.middle_parts() && message_bytes > offset + kMiddleBytes; ++i) {
    parts.push_back({.offset = offset, .bytes = kMiddleBytes, .mark = tags.middle(i)});
    offset += kMiddleBytes;
  }
  if (message_bytes > offset)
    parts.push_back({.offset = offset, .bytes = message_bytes - offset, .mark = tags.last(message_bytes)});
  return parts;
}

std::vector<MessagePart> writes_of(std::uint64_t message_bytes) {
  constexpr std::uint64_t kCacheLine = 64;
  const auto count = std::clamp<std::uint64_t>(message_bytes / kLeastWriteBytes, 1, kMostWrites);
  const std::uint64_t lines = (message_bytes + kCacheLine - 1) / kCacheLine;
  const std::uint64_t bytes = (lines + count - 1) / count * kCacheLine;
  std::vector<MessagePart> writes;
  for (std::uint64_t i = 0; i < count; ++i)
    writes.push_back({.offset = i * bytes, .bytes = std::min(bytes, message_bytes - i * bytes)});
  return writes;
}

}  // namespace fab::core
