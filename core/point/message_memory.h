// The memory of a point-to-point message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fab/layout.h"

namespace fab::core {

/// The caller's memory: bytes in a row, or a layout.
class MessageMemory {
 public:
  MessageMemory() = default;
  MessageMemory(std::byte* address, std::uint64_t bytes) : address_(address), bytes_(bytes) {}
  MessageMemory(std::byte* base, const Layout& layout);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Of bytes in a row; null for others.
  [[nodiscard]] std::byte* contiguous() const noexcept { return pieces_ ? nullptr : address_; }
  [[nodiscard]] bool is_contiguous() const noexcept { return !pieces_; }
  void pack(std::byte* out) const;
  /// The first bytes, in the order in which they travel; at most bytes().
  void unpack(const std::byte* in, std::uint64_t bytes) const;

 private:
  std::byte* address_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::optional<Layout> pieces_;  ///< none: in a row, which most are, and which then counts no users of a layout
};

/// All of one to the beginning of another that is at least as long.
void copy(const MessageMemory& from, const MessageMemory& to);

}  // namespace fab::core
