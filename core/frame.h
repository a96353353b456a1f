// The frame in front of a message that carries several blocks: how many bytes of each, so that the receiver can tell
// where ranks disagree. In checked builds every message has one, with the kind of the call in front.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fab/schedule.h"

namespace fab::core {

/// One word for the call, then one for the bytes of each block.
using FrameWord = std::uint64_t;

/// A word for the name of a call; 0 where calls are not checked.
[[nodiscard]] FrameWord call_word(std::string_view name, bool check) noexcept;

/// Bytes of the frame of a message with so many blocks; 0: the message has none.
[[nodiscard]] std::uint32_t frame_bytes(std::uint32_t blocks, bool check) noexcept;

void write_frame(std::span<const BlockRecord> blocks, FrameWord call, std::byte* out) noexcept;

/// Compares a received frame with what this rank expects.
enum class FrameFault { none, other_call, too_long, too_short };
struct FrameCheck {
  FrameFault fault = FrameFault::none;
  std::uint32_t block = 0;         ///< the first block that differs
  std::uint64_t sender_bytes = 0;  ///< what the sender gave it
};
[[nodiscard]] FrameCheck check_frame(std::span<const BlockRecord> blocks, FrameWord call,
                                     const std::byte* frame) noexcept;

}  // namespace fab::core
