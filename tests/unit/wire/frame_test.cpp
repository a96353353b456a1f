#include "core/wire/frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace fab::core {
namespace {

std::vector<BlockRecord> blocks_of(std::initializer_list<std::uint64_t> sizes) {
  std::vector<BlockRecord> blocks;
  for (const std::uint64_t bytes : sizes) {
    BlockRecord& block = blocks.emplace_back();
    block.bytes = bytes;
  }
  return blocks;
}

std::vector<std::byte> frame_of(const std::vector<BlockRecord>& blocks, CallWord call) {
  std::vector<std::byte> frame(frame_bytes(static_cast<std::uint32_t>(blocks.size())));
  write_frame(blocks, call, frame.data());
  return frame;
}

TEST(Frame, AHeadAndAWordForEachBlockButTheLast) {
  EXPECT_EQ(frame_bytes(1), 16u);
  EXPECT_EQ(frame_bytes(5), 48u);
}

TEST(Frame, ItsHeadTellsTheWholeMessage) {
  const FrameHead head = read_frame_head(frame_of(blocks_of({8, 4, 1ull << 40}), 5).data());
  EXPECT_EQ(head.call, 5u);
  EXPECT_EQ(head.blocks, 3u);
  EXPECT_EQ(head.message_bytes, 32 + 8 + 4 + (1ull << 40));
}

TEST(Frame, CallsHaveDifferentWordsWhereTheyAreChecked) {
  EXPECT_EQ(call_word("neighbor_xchg", false), 0u);
  EXPECT_NE(call_word("neighbor_xchg", true), 0u);
  EXPECT_NE(call_word("neighbor_xchg", true), call_word("cart_shift_xchg", true));
  EXPECT_EQ(call_word("bcast", true), call_word("bcast", true));
}

TEST(Frame, EqualSizesAgree) {
  const auto blocks = blocks_of({8, 0, 1ull << 40});
  EXPECT_EQ(check_frame(blocks, 5, frame_of(blocks, 5).data()).fault, FrameFault::none);
}

TEST(Frame, TheFirstBlockThatDiffersIsNamed) {
  const FrameCheck longer = check_frame(blocks_of({8, 4, 2}), 5, frame_of(blocks_of({8, 6, 9}), 5).data());
  EXPECT_EQ(longer.fault, FrameFault::too_long);
  EXPECT_EQ(longer.block, 1u);
  EXPECT_EQ(longer.sender_bytes, 6u);
  const FrameCheck shorter = check_frame(blocks_of({8, 4, 2}), 5, frame_of(blocks_of({8, 4, 0}), 5).data());
  EXPECT_EQ(shorter.fault, FrameFault::too_short);
  EXPECT_EQ(shorter.block, 2u);
  EXPECT_EQ(shorter.sender_bytes, 0u);
}

TEST(Frame, AnotherCallComesBeforeSizes) {
  EXPECT_EQ(check_frame(blocks_of({8}), 5, frame_of(blocks_of({9}), 6).data()).fault, FrameFault::other_call);
}

// What follows the sender's own sizes is data, and may look like a size.
TEST(Frame, FewerBlocksAreNoticedBeforeAnyData) {
  std::vector<std::byte> message = frame_of(blocks_of({8, 4}), 5);
  message.resize(message.size() + 8);
  const std::uint64_t looks_like_a_size = 2;
  std::memcpy(message.data() + message.size() - 8, &looks_like_a_size, 8);
  const FrameCheck check = check_frame(blocks_of({8, 4, 2}), 5, message.data());
  EXPECT_EQ(check.fault, FrameFault::other_blocks);
  EXPECT_EQ(check.sender_bytes, 2u);
}

TEST(Frame, MoreBlocksAreNoticed) {
  const FrameCheck check = check_frame(blocks_of({8, 4}), 5, frame_of(blocks_of({8, 4, 0}), 5).data());
  EXPECT_EQ(check.fault, FrameFault::other_blocks);
  EXPECT_EQ(check.sender_bytes, 3u);
}

TEST(Frame, MayLieAtAnyAddress) {
  const auto blocks = blocks_of({3, 4});
  std::vector<std::byte> memory(1 + frame_bytes(2));
  write_frame(blocks, 7, memory.data() + 1);
  EXPECT_EQ(memory[0], std::byte{0});
  EXPECT_EQ(check_frame(blocks, 7, memory.data() + 1).fault, FrameFault::none);
}

}  // namespace
}  // namespace fab::core
