// The frame in front of a message that carries several blocks: how many bytes of each, so that the receiver can tell
// where ranks disagree. Messages of several blocks and long ones have one; with FAB_CHECK all have, with the call in
// front.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fab/error.h"
#include "fab/message.h"
#include "fab/schedule.h"

namespace fab::core {

/// A word for the name of a call; 0 where calls are not checked.
using CallWord = std::uint32_t;
[[nodiscard]] CallWord call_word(std::string_view name, bool check) noexcept;
/// The inverse, for the calls of fab's own; "another call" for others.
[[nodiscard]] std::string_view name_of_call(CallWord word) noexcept;

/// What a frame begins with. After that come the bytes of each block but the last, which those of the message tell.
struct FrameHead {
  static constexpr std::size_t kBytes = 16;

  CallWord call = 0;
  std::uint32_t blocks = 0;
  std::uint64_t message_bytes = 0;  ///< frame included
};

/// Bytes of a frame for so many blocks, one at least.
[[nodiscard]] std::uint32_t frame_bytes(std::uint32_t blocks) noexcept;

void write_frame(std::span<const BlockRecord> blocks, CallWord call, std::byte* out) noexcept;

/// `frame` has at least FrameHead::kBytes.
[[nodiscard]] FrameHead read_frame_head(const std::byte* frame) noexcept;

/// What stands in place of a message that its sender cannot send: a frame's head, whose call no call has.
struct FailureNotice {
  Rank failed_rank = kNoRank;  ///< the rank of the job by which it began; kNoRank: none is known
  Errc code = Errc::transport;
};
/// Writes FrameHead::kBytes.
void write_notice(const FailureNotice& notice, std::byte* out) noexcept;
[[nodiscard]] std::optional<FailureNotice> find_notice(const FrameHead& head) noexcept;

/// Compares a received frame with what this rank expects. The frame has room for as many blocks as this rank expects.
enum class FrameFault { none, other_call, other_blocks, too_long, too_short };
struct FrameCheck {
  FrameFault fault = FrameFault::none;
  std::uint32_t block = 0;         ///< the first block that differs
  std::uint64_t sender_bytes = 0;  ///< what the sender gave it
  CallWord sender_call = 0;        ///< of FrameFault::other_call
};
[[nodiscard]] FrameCheck check_frame(std::span<const BlockRecord> blocks, CallWord call,
                                     const std::byte* frame) noexcept;

}  // namespace fab::core
