#include "core/frame.h"

#include <cstring>

namespace fab::core {

FrameWord call_word(std::string_view name, bool check) noexcept {
  if (!check) return 0;
  FrameWord word = 14695981039346656037ull;  // FNV-1a
  for (const char character : name) word = (word ^ static_cast<unsigned char>(character)) * 1099511628211ull;
  return word;
}

std::uint32_t frame_bytes(std::uint32_t blocks, bool check) noexcept {
  return blocks > 1 || check ? static_cast<std::uint32_t>((1 + blocks) * sizeof(FrameWord)) : 0;
}

void write_frame(std::span<const BlockRecord> blocks, FrameWord call, std::byte* out) noexcept {
  const auto write = [&out](FrameWord word) {
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
  };
  write(call);
  for (const BlockRecord& block : blocks) write(block.bytes);
}

FrameCheck check_frame(std::span<const BlockRecord> blocks, FrameWord call, const std::byte* frame) noexcept {
  const auto word_at = [frame](std::size_t i) {
    FrameWord word;
    std::memcpy(&word, frame + i * sizeof(word), sizeof(word));
    return word;
  };
  if (word_at(0) != call) return {FrameFault::other_call, 0, 0};
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const FrameWord sent = word_at(i + 1);
    if (sent == blocks[i].bytes) continue;
    return {sent > blocks[i].bytes ? FrameFault::too_long : FrameFault::too_short, i, sent};
  }
  return {};
}

}  // namespace fab::core
