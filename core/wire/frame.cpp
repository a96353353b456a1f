#include "core/wire/frame.h"

#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "core/base/collective.h"
#include "core/base/hash.h"

namespace fab::core {

namespace {

constexpr CallWord kNoticeCall = ~CallWord{0};

using BlockBytes = std::uint64_t;

static_assert(std::is_trivially_copyable_v<FrameHead> && sizeof(FrameHead) == FrameHead::kBytes);

}  // namespace

void write_notice(const FailureNotice& notice, std::byte* out) noexcept {
  static_assert(sizeof(notice.failed_rank) == sizeof(FrameHead::blocks));
  const FrameHead head{.call = kNoticeCall,
                       .blocks = static_cast<std::uint32_t>(notice.failed_rank),
                       .message_bytes = static_cast<std::uint64_t>(notice.code)};
  std::memcpy(out, &head, sizeof(head));
}

std::optional<FailureNotice> find_notice(const FrameHead& head) noexcept {
  if (head.call != kNoticeCall) return std::nullopt;
  return FailureNotice{.failed_rank = static_cast<Rank>(head.blocks), .code = static_cast<Errc>(head.message_bytes)};
}

CallWord call_word(std::string_view name, bool check) noexcept {
  if (!check) return 0;
  const auto word = static_cast<CallWord>(hash_of(name) >> 32);
  return word == kNoticeCall ? 0 : word;
}

std::string_view name_of_call(CallWord word) noexcept {
  for (const std::string_view name : {"neighbor_xchg", "cart_shift_xchg", "halo_xchg"})
    if (call_word(name, true) == word) return name;
  for (const std::string_view name : kCollectiveNames)
    if (call_word(name, true) == word) return name;
  return "another call";
}

std::uint32_t frame_bytes(std::uint32_t blocks) noexcept {
  return static_cast<std::uint32_t>(FrameHead::kBytes + (blocks - 1) * sizeof(BlockBytes));
}

void write_frame(std::span<const BlockRecord> blocks, CallWord call, std::byte* out) noexcept {
  const auto count = static_cast<std::uint32_t>(blocks.size());
  FrameHead head{.call = call, .blocks = count, .message_bytes = frame_bytes(count)};
  for (const BlockRecord& block : blocks) head.message_bytes += block.bytes;
  std::memcpy(out, &head, sizeof(head));
  out += sizeof(head);
  for (const BlockRecord& block : blocks.first(count - 1)) {
    const BlockBytes bytes = block.bytes;
    std::memcpy(out, &bytes, sizeof(bytes));
    out += sizeof(bytes);
  }
}

FrameHead read_frame_head(const std::byte* frame) noexcept {
  FrameHead head;
  std::memcpy(&head, frame, sizeof(head));
  return head;
}

FrameCheck check_frame(std::span<const BlockRecord> blocks, CallWord call, const std::byte* frame) noexcept {
  const FrameHead head = read_frame_head(frame);
  if (head.call != call) return {FrameFault::other_call, 0, 0, head.call};
  BlockBytes left = head.message_bytes - frame_bytes(head.blocks);
  for (std::uint32_t i = 0; i < blocks.size() && i < head.blocks; ++i) {
    BlockBytes sent = left;
    if (i + 1 < head.blocks) {
      if (i + 1 == blocks.size()) break;  // its place is not in the frame any more
      std::memcpy(&sent, frame + FrameHead::kBytes + i * sizeof(sent), sizeof(sent));
    }
    left -= sent;
    if (sent == blocks[i].bytes) continue;
    return {sent > blocks[i].bytes ? FrameFault::too_long : FrameFault::too_short, i, sent};
  }
  if (head.blocks != blocks.size()) return {FrameFault::other_blocks, 0, head.blocks};
  return {};
}

}  // namespace fab::core
