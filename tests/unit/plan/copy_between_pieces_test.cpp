// Copies between two blocks in pieces, which are packed and unpacked step by step where that keeps them in the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(i * 7 + i / 256);
  return all;
}

/// The run of a schedule with that copy alone.
void copy(Buffers& buffers, BufferId from_buffer, const Layout& from, const Layout& to) {
  RecordingRig rig;
  ScheduleBuilder builder("test", 4);
  builder.copy({from_buffer, 0, from}, {BufferId::recv, 0, to});
  core::Run& run = rig.start(builder.commit(), buffers);
  ASSERT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

/// What a copy between the two buffers must give, and nothing beyond.
void expect_copied(const Layout& from, const Layout& to) {
  Buffers buffers(static_cast<std::size_t>(std::max(from.true_upper_bound(), to.true_upper_bound())));
  buffers.send = counted(buffers.send.size());
  std::vector<std::byte> expected = buffers.recv;
  std::vector<std::byte> packed(from.size());
  from.pack(buffers.send.data(), packed.data());
  to.unpack(packed.data(), expected.data());
  copy(buffers, BufferId::send, from, to);
  EXPECT_TRUE(buffers.recv == expected);
}

Layout box(std::vector<std::size_t> sizes, std::vector<std::size_t> subsizes) {
  return Layout::subarray(sizes, subsizes, std::vector<std::size_t>(sizes.size(), 1), Layout::contiguous(8));
}

TEST(CopyBetweenPieces, OfAnyLengthKeepsEachByte) {
  for (const std::size_t rows : {1u, 2u, 31u, 32u, 33u, 64u, 100u})
    expect_copied(box({rows + 2, 130, 3}, {rows, 128, 1}), box({130, rows + 1}, {128, rows}));
}

TEST(CopyBetweenPieces, OfManyNodesKeepsEachByte) {
  std::vector<std::size_t> lengths;
  std::vector<std::ptrdiff_t> places;
  std::size_t total = 0;
  for (std::ptrdiff_t i = 0, at = 0; i < 1000; ++i, at += 200 + i % 3) {
    lengths.push_back(static_cast<std::size_t>(90 + i % 7));
    places.push_back(at);
    total += lengths.back();
  }
  const Layout scattered = Layout::indexed(lengths, places, Layout::contiguous(1));
  expect_copied(scattered, Layout::vector(total, 1, 2, Layout::contiguous(1)));
}

// A later step would read what an earlier one has written.
TEST(CopyBetweenPieces, WithinABufferReadsAllFirst) {
  constexpr std::size_t kEdge = 200;
  constexpr std::size_t kRow = kEdge + 1;  // so that neither of the two is contiguous
  const Layout rows = Layout::vector(kEdge, kEdge, kRow * 8, Layout::contiguous(8));
  const Layout column = Layout::vector(kEdge, 1, kRow * 8, Layout::contiguous(8)).resized(0, 8);
  Buffers buffers(kEdge * kRow * 8);
  buffers.recv = counted(buffers.recv.size());
  std::vector<std::byte> expected = buffers.recv;
  for (std::size_t i = 0; i < kEdge; ++i)
    for (std::size_t j = 0; j < kEdge; ++j)
      std::memcpy(expected.data() + (j * kRow + i) * 8, buffers.recv.data() + (i * kRow + j) * 8, 8);
  copy(buffers, BufferId::recv, rows, column.repeated(kEdge));
  EXPECT_TRUE(buffers.recv == expected);
}

}  // namespace
}  // namespace fab::test
