#include "core/frame.h"

#include <cstring>
#include <initializer_list>

#include "core/collective.h"

namespace fab::core {

namespace {

constexpr FrameWord kNoticeCall = ~FrameWord{0};

}  // namespace

void write_notice(const FailureNotice& notice, std::byte* out) noexcept {
  const FrameWord words[] = {kNoticeCall, static_cast<FrameWord>(notice.code),
                             static_cast<FrameWord>(std::int64_t{notice.culprit})};
  static_assert(sizeof(words) == FrameHead::kBytes);
  std::memcpy(out, words, sizeof(words));
}

std::optional<FailureNotice> find_notice(const FrameHead& head) noexcept {
  if (head.call != kNoticeCall) return std::nullopt;
  return FailureNotice{.culprit = static_cast<Rank>(static_cast<std::int64_t>(head.blocks)),
                       .code = static_cast<Errc>(head.message_bytes)};
}

FrameWord call_word(std::string_view name, bool check) noexcept {
  if (!check) return 0;
  FrameWord word = 14695981039346656037ull;  // FNV-1a
  for (const char character : name) word = (word ^ static_cast<unsigned char>(character)) * 1099511628211ull;
  return word;
}

std::string_view name_of_call(FrameWord word) noexcept {
  for (const std::string_view name : {"neighbor_xchg", "cart_shift_xchg", "halo_xchg"})
    if (call_word(name, true) == word) return name;
  for (const std::string_view name : kCollectiveNames)
    if (call_word(name, true) == word) return name;
  return "another call";
}

std::uint32_t frame_bytes(std::uint32_t blocks) noexcept {
  return static_cast<std::uint32_t>(FrameHead::kBytes + blocks * sizeof(FrameWord));
}

void write_frame(std::span<const BlockRecord> blocks, FrameWord call, std::byte* out) noexcept {
  const auto write = [&out](FrameWord word) {
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
  };
  FrameWord bytes = frame_bytes(static_cast<std::uint32_t>(blocks.size()));
  for (const BlockRecord& block : blocks) bytes += block.bytes;
  write(call);
  write(bytes);
  write(blocks.size());
  for (const BlockRecord& block : blocks) write(block.bytes);
}

FrameHead read_frame_head(const std::byte* frame) noexcept {
  FrameWord words[3];
  static_assert(sizeof(words) == FrameHead::kBytes);
  std::memcpy(words, frame, sizeof(words));
  return {words[0], words[1], words[2]};
}

FrameCheck check_frame(std::span<const BlockRecord> blocks, FrameWord call, const std::byte* frame) noexcept {
  const FrameHead head = read_frame_head(frame);
  if (head.call != call) return {FrameFault::other_call, 0, 0, head.call};
  for (std::uint32_t i = 0; i < blocks.size() && i < head.blocks; ++i) {
    FrameWord sent;
    std::memcpy(&sent, frame + FrameHead::kBytes + i * sizeof(sent), sizeof(sent));
    if (sent == blocks[i].bytes) continue;
    return {sent > blocks[i].bytes ? FrameFault::too_long : FrameFault::too_short, i, sent};
  }
  if (head.blocks != blocks.size()) return {FrameFault::other_blocks, 0, head.blocks};
  return {};
}

}  // namespace fab::core
