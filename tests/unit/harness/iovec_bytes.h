// Memory in pieces, as providers see it.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace fab::test {

[[nodiscard]] inline std::size_t total_bytes(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

[[nodiscard]] inline std::vector<std::byte> gather(std::span<const iovec> pieces) {
  std::vector<std::byte> bytes;
  bytes.reserve(total_bytes(pieces));
  for (const iovec& piece : pieces) {
    const auto* begin = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), begin, begin + piece.iov_len);
  }
  return bytes;
}

/// As much of the message as the pieces hold.
inline void scatter(std::span<const iovec> pieces, std::span<const std::byte> message) {
  for (const iovec& piece : pieces) {
    const std::size_t bytes = std::min(piece.iov_len, message.size());
    if (bytes > 0) std::memcpy(piece.iov_base, message.data(), bytes);
    message = message.subspan(bytes);
  }
}

}  // namespace fab::test
