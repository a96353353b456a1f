#include "core/message_parts.h"

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

}  // namespace fab::core
