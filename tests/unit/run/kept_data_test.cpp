// Programs that reuse the memory of what they send while fab still looks for their peers.
#include "core/run/kept_data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/communicator/persistent.h"
#include "core/run/run.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

class KeptDataTest : public testing::Test {
 protected:
  /// The last send with data.
  const Post& sent() {
    posts_ = rig_.provider().posts();
    return *std::find_if(posts_.rbegin(), posts_.rend(),
                         [](const Post& post) { return post.kind == kSend && post.bytes() > 0; });
  }
  void find_peers() {
    for (const Rank rank : {1, 2, 3}) rig_.publish(rank);
    rig_.poll();
  }

  static Config config() {
    Config config = caller_config();
    config.one_sided = OneSidedMode::off;
    return config;
  }

  RecordingRig rig_{{.config = config(), .known = false}};
  std::vector<Post> posts_;
};

TEST_F(KeptDataTest, ShortDataIsReadByTheStartThoughNoPeerIsKnown) {
  Buffers buffers(8);
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers);
  std::ranges::fill(buffers.send, std::byte{9});
  EXPECT_TRUE(rig_.provider().posts().empty());
  find_peers();
  EXPECT_EQ(sent().message, bytes_of(8, 1));
  rig_.provider().settle_all(8);
  rig_.poll();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig_.let_go(run);
}

TEST_F(KeptDataTest, LongDataIsReadWhenItIsSent) {
  const std::size_t bytes = core::KeptData::kMostBytes + 8;
  Buffers buffers(bytes);
  core::Run& run = rig_.start(exchange_with({1}, bytes), buffers);
  std::ranges::fill(buffers.send, std::byte{9});
  find_peers();
  EXPECT_EQ(sent().message.back(), std::byte{9});
  rig_.provider().settle_all(bytes);
  rig_.poll();
  rig_.let_go(run);
}

TEST_F(KeptDataTest, PiecesKeepTheirPlaces) {
  Buffers buffers(64);
  for (std::size_t i = 0; i < buffers.send.size(); ++i) buffers.send[i] = static_cast<std::byte>(i);
  ScheduleBuilder builder("test", 4);
  builder.send(1, 0, {BufferId::send, 3, Layout::vector(3, 1, 16, Layout::contiguous(2))});
  const Schedule schedule = builder.commit();
  core::Run& run = rig_.start(schedule, buffers);
  std::ranges::fill(buffers.send, std::byte{99});
  find_peers();
  const std::vector<std::byte> expected = {std::byte{3},  std::byte{4},  std::byte{19},
                                           std::byte{20}, std::byte{35}, std::byte{36}};
  EXPECT_EQ(sent().message, expected);
  rig_.provider().settle_all(6);
  rig_.poll();
  rig_.let_go(run);
}

// Its data may come from another rank in an earlier round.
TEST_F(KeptDataTest, WhatTheRunItselfWritesIsNotKept) {
  Buffers buffers(8);
  ScheduleBuilder builder("test", 4);
  builder.recv(1, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.round();
  builder.send(2, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  core::Run& run = rig_.start(builder.commit(), buffers);
  find_peers();
  rig_.provider().settle_all(8);
  rig_.poll();
  EXPECT_EQ(sent().pieces.front().iov_base, buffers.recv.data());
  rig_.provider().settle_all(8);
  rig_.poll();
  EXPECT_TRUE(run.done());
  rig_.let_go(run);
}

TEST_F(KeptDataTest, LaterStartsReadTheUsersMemory) {
  Buffers buffers(8);
  const std::array<std::byte*, 2> bases{buffers.send.data(), buffers.recv.data()};
  core::Persistent exchange(rig_.world(), exchange_with({1}, 8), bases);
  const auto start = [&] {
    const core::Lock lock(rig_.engine());
    exchange.start();
  };
  start();
  find_peers();
  EXPECT_EQ(sent().message, bytes_of(8, 1));
  rig_.provider().settle_all(8);
  rig_.poll();
  ASSERT_TRUE(exchange.run().done());
  exchange.end();

  std::ranges::fill(buffers.send, std::byte{5});
  start();
  EXPECT_EQ(sent().message, bytes_of(8, 5));
  EXPECT_EQ(sent().pieces.front().iov_base, buffers.send.data());
  rig_.provider().settle_all(8);
  rig_.poll();
}

}  // namespace
}  // namespace fab::test
