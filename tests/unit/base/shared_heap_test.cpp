#include "core/base/shared_heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fab/error.h"
#include "providers/local/mapped_memory.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using core::SharedHeap;

std::byte* allocate(std::size_t bytes) { return static_cast<std::byte*>(SharedHeap::of_process().allocate(bytes)); }
void free_block(std::byte* block) { SharedHeap::of_process().free(block); }

TEST(SharedHeap, BlocksAreAlignedAndApart) {
  std::mt19937 random(3);
  std::map<std::byte*, std::size_t> blocks;
  for (int step = 0; step < 3000; ++step) {
    if (blocks.size() > 100 || (!blocks.empty() && random() % 3 == 0)) {
      auto chosen = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
      ASSERT_TRUE(std::all_of(chosen->first, chosen->first + chosen->second,
                              [&](std::byte value) { return value == std::byte(chosen->second % 251); }));
      free_block(chosen->first);
      blocks.erase(chosen);
      continue;
    }
    const std::size_t bytes = random() % 4 == 0 ? random() % 300'000 : random() % 300;
    std::byte* const block = allocate(bytes);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % (bytes >= 4096 ? 4096 : 64), 0u);
    ASSERT_TRUE(SharedHeap::of_process().find(block, bytes).has_value());
    std::memset(block, static_cast<int>(bytes % 251), bytes);
    blocks.emplace(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) free_block(block);
}

TEST(SharedHeap, FreedNeighborsBecomeOneBlockAgain) {
  constexpr std::size_t kThird = 20 << 20;  // three fill a region
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    std::vector<std::byte*> blocks = {allocate(kThird), allocate(kThird), allocate(kThird)};
    std::byte* const first = blocks[0];
    for (const std::size_t i : order) free_block(blocks[i]);
    std::byte* const all = allocate(3 * kThird);
    EXPECT_EQ(all, first);
    free_block(all);
  }
}

// Each block has a region, and more of them than has_address() lists.
TEST(SharedHeap, ManyLongBlocksAreThereAtOnce) {
  constexpr std::size_t kLong = 65 << 20;
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 520; ++i) blocks.push_back(allocate(kLong));
  EXPECT_TRUE(SharedHeap::of_process().has_address(blocks.front() + kLong - 1));
  EXPECT_TRUE(SharedHeap::of_process().find(blocks.back(), kLong).has_value());
  EXPECT_EQ(SharedHeap::of_process().bytes_of(blocks.back()), kLong);
  std::byte* const first = blocks.front();
  for (std::byte* const each : blocks) free_block(each);
  EXPECT_FALSE(SharedHeap::of_process().has_address(first));
  EXPECT_EQ(SharedHeap::of_process().bytes_of(first), 0u);
}

/// The kernel's flags of the mapping that this address is in.
std::string flags_at(const std::byte* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
      is_here = reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
    if (is_here && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}

TEST(SharedHeap, LongBlocksAskForHugePages) {
  constexpr std::size_t kLong = std::size_t{4} << 20;
  std::byte* const extended = allocate(kLong);
  const std::string flags = flags_at(extended + kLong / 2);
  if (flags.empty()) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
  free_block(extended);
}

TEST(SharedHeap, OtherAddressesAreNoBlocks) {
  std::byte* const block = allocate(100);
  int other = 0;
  expect_error(Errc::invalid_argument, {"alloc"}, [&] { SharedHeap::of_process().free(&other); });
  expect_error(Errc::invalid_argument, {"alloc"}, [&] { free_block(block + 64); });
  EXPECT_FALSE(SharedHeap::of_process().find(&other, sizeof(other)).has_value());
  SharedHeap::of_process().free(nullptr);
  free_block(block);
  expect_error(Errc::invalid_argument, {"alloc"}, [&] { free_block(block); });
}

TEST(SharedHeap, TooMuchIsTold) {
  expect_error(Errc::no_resources, {"18446744073709551615 bytes"},
               [] { static_cast<void>(allocate(std::numeric_limits<std::size_t>::max())); });
  expect_error(Errc::no_resources, {"bytes"},
               [] { static_cast<void>(allocate(std::numeric_limits<std::size_t>::max() / 4)); });
}

// This process takes the part of its peer.
TEST(SharedHeap, PeersSeeBlocksUntilTheirRegionGoes) {
  constexpr std::size_t kLong = 100 << 20;  // a region of its own
  local::OwnMemory own;
  local::PeerMemory peer(::getpid());
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::byte* const block = allocate(kLong);
    block[kLong - 1] = std::byte{42};
    iovec piece{block, kLong};
    const local::RegionName name = own.region_of({&piece, 1});
    ASSERT_NE(name.number, 0u);
    ASSERT_TRUE(peer.translate(name, {&piece, 1}));
    const auto* const seen = static_cast<const std::byte*>(piece.iov_base);
    EXPECT_NE(seen, block);
    EXPECT_EQ(seen[kLong - 1], std::byte{42});
    free_block(block);
    EXPECT_EQ(seen[kLong - 1], std::byte{0}) << "its memory was not given back";
    EXPECT_EQ(own.region_of({&piece, 1}).number, 0u);
    EXPECT_EQ(peer.mapped(), 1u) << "what has ended is unmapped when something new comes";
  }
}

TEST(SharedHeap, WhatIsNotOfOneRegionHasNoName) {
  constexpr std::size_t kLong = 100 << 20;
  local::OwnMemory own;
  local::PeerMemory peer(::getpid());
  std::byte* const one = allocate(kLong);
  std::byte* const other = allocate(kLong);
  std::byte elsewhere{};
  const iovec both[] = {{one, 10}, {other, 10}};
  EXPECT_EQ(own.region_of(both).number, 0u);
  const iovec mixed[] = {{one, 10}, {&elsewhere, 1}};
  EXPECT_EQ(own.region_of(mixed).number, 0u);
  iovec beyond{one + kLong - 8, 16};
  EXPECT_EQ(own.region_of({&beyond, 1}).number, 0u);

  const iovec inside{one, 10};
  const local::RegionName name = own.region_of({&inside, 1});
  iovec wrong{&elsewhere, 1};
  EXPECT_FALSE(peer.translate(name, {&wrong, 1})) << "an address outside the region";
  iovec of_no_region{one, 10};
  EXPECT_FALSE(peer.translate({name.number + 1000, name.descriptor}, {&of_no_region, 1}))
      << "a region that is not there";
  free_block(one);
  free_block(other);
}

}  // namespace
}  // namespace fab::test
