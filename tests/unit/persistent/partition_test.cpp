// Exchanges in parts: how blocks are divided, what is posted when, and what a failure leaves.
#include "core/communicator/partition.h"

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "collectives/neighbor/partitioned_edges.h"
#include "core/communicator/persistent.h"
#include "core/failure/notices.h"
#include "core/run/wait.h"
#include "core/wire/frame.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using collectives::kLeastGroupBytes;
using core::PartedBlock;
using testing::ElementsAre;

/// The parts of each group.
std::vector<std::size_t> divided(const std::vector<std::size_t>& part_bytes, std::size_t most_groups) {
  std::vector<std::size_t> counts;
  std::size_t next = 0;
  const auto block = collectives::divide(part_bytes, most_groups, [&](std::size_t first, std::size_t count) {
    EXPECT_EQ(first, next);
    next = first + count;
    counts.push_back(count);
    return Block{BufferId::send, 0, Layout()};
  });
  EXPECT_EQ(block.bytes, std::accumulate(part_bytes.begin(), part_bytes.end(), std::size_t{0}));
  for (std::size_t part = 0; part < part_bytes.size(); ++part)
    EXPECT_EQ(block.group_of[part] == PartedBlock::kNoGroup, part_bytes[part] == 0) << part;
  return counts;
}

TEST(DividedBlock, HasGroupsOfTheLeastSizeAndNotTooMany) {
  const std::size_t least = kLeastGroupBytes;
  EXPECT_THAT(divided({10, 10, 10}, 8), ElementsAre(3)) << "all of them are small";
  EXPECT_THAT(divided({least, least, least}, 8), ElementsAre(1, 1, 1));
  EXPECT_THAT(divided({least / 2, least / 2, least / 2}, 8), ElementsAre(2, 1));
  EXPECT_THAT(divided(std::vector<std::size_t>(16, least), 8), testing::SizeIs(8));
  EXPECT_THAT(divided(std::vector<std::size_t>(17, 10 * least), 8), ElementsAre(3, 3, 3, 3, 3, 2));
  EXPECT_THAT(divided({least, least}, 1), ElementsAre(2));
  EXPECT_THAT(divided({0, least, 0, 0, least, 0}, 8), ElementsAre(2, 3)) << "the last one has no bytes";
  EXPECT_THAT(divided({0, 0}, 8), ElementsAre());
}

TEST(PartsOfABlock, OneOfManyThreadsCompletesAGroup) {
  constexpr std::size_t kParts = 64;
  constexpr std::size_t kThreads = 4;
  PartedBlock block{.group_of = std::vector<std::uint32_t>(kParts, 0), .groups = {{.first = 7, .count = 1}}};
  for (std::size_t part = kParts / 2; part < kParts; ++part) block.group_of[part] = 1;
  block.groups.push_back({.first = 8, .count = 2});
  core::Partition partition("test", {block}, {block});
  for (int start = 0; start < 50; ++start) {
    partition.open();
    std::atomic<int> complete{0};
    {
      std::vector<std::jthread> threads;
      for (std::size_t thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
          for (std::size_t part = thread; part < kParts; part += kThreads)
            if (const core::Arrival* group = partition.mark(0, part)) complete += group->first == 7 ? 1 : 100;
        });
    }
    EXPECT_EQ(complete.load(), 101);
  }
  EXPECT_EQ(partition.find_arrival(0, 0)->first, 7u);
  EXPECT_EQ(partition.arrivals().front().count, 3u);
}

/// An exchange with rank 1 of a block of three parts, each its own group, and of one part with itself.
class InParts : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 8;

  core::Persistent make() {
    ScheduleBuilder builder("test", 4);
    for (std::uint32_t part = 0; part < 3; ++part) {
      const auto offset = static_cast<std::ptrdiff_t>(part * kBytes);
      builder.recv(1, part, {BufferId::recv, offset, Layout::contiguous(kBytes)});
      builder.send(1, part, {BufferId::send, offset, Layout::contiguous(kBytes)});
    }
    const Block own{BufferId::send, 3 * kBytes, Layout::contiguous(kBytes)};
    builder.copy(0, own, {BufferId::recv, 3 * kBytes, own.layout});
    const std::array<std::byte*, 2> bases{buffers_.send.data(), buffers_.recv.data()};
    core::Persistent made(rig_.world(), builder.commit(), bases);
    made.divide(std::make_unique<core::Partition>("test", blocks(made, OperationKind::send),
                                                  blocks(made, OperationKind::recv)));
    first_ = provider().posts().size();
    return made;
  }
  static std::vector<PartedBlock> blocks(const core::Persistent& exchange, OperationKind kind) {
    const core::Plan& plan = exchange.run().plan();
    PartedBlock block{.group_of = {0, 1, 2}};
    for (std::uint32_t part = 0; part < 3; ++part) block.groups.push_back(plan.find(kind, {1, part}));
    return {block, {.group_of = {0}, .groups = {plan.find(kind, {0, 0})}}};
  }
  void start(core::Persistent& exchange) {
    const core::Lock lock(rig_.engine());
    exchange.start();
  }
  RecordingProvider& provider() { return rig_.provider(); }
  /// Since the exchange was made: the slots of what was posted.
  std::vector<std::uint64_t> posted(OperationKind kind) {
    std::vector<std::uint64_t> slots;
    const std::vector<Post> posts = provider().posts();
    for (std::size_t i = first_; i < posts.size(); ++i)
      if (posts[i].kind == kind) slots.push_back(posts[i].tag & 0xff);
    return slots;
  }

  RecordingRig rig_;
  Buffers buffers_{100};
  std::size_t first_ = 0;  ///< what was posted before are messages that connect
};

TEST_F(InParts, AStartPostsReceivesAndEachMarkItsPart) {
  core::Persistent exchange = make();
  for (int i = 0; i < 2; ++i) {
    first_ = provider().posts().size();
    buffers_.recv[3 * kBytes] = std::byte{9};
    start(exchange);
    EXPECT_THAT(posted(kRecv), ElementsAre(0, 1, 2));
    EXPECT_THAT(posted(kSend), ElementsAre());
    EXPECT_EQ(buffers_.recv[3 * kBytes], std::byte{9}) << "copies are held back, too";
    exchange.ready(0, 2);
    EXPECT_THAT(posted(kSend), ElementsAre(2));
    exchange.ready(1, 0);
    EXPECT_EQ(buffers_.recv[3 * kBytes], buffers_.send[3 * kBytes]);
    exchange.ready(0, 0);
    provider().settle_all(kBytes);
    rig_.poll();
    EXPECT_FALSE(exchange.run().done()) << "a part is missing";
    exchange.ready(0, 1);
    EXPECT_THAT(posted(kSend), ElementsAre(2, 0, 1));
    provider().settle_all(kBytes);
    core::finish(exchange.run());
    EXPECT_TRUE(exchange.run().status().ok()) << exchange.run().status().message;
    exchange.end();
  }
}

TEST_F(InParts, APartIsThereWhenItsMessageIs) {
  core::Persistent exchange = make();
  Status status;
  EXPECT_TRUE(exchange.arrived(0, 1, status)) << "not started";
  start(exchange);
  EXPECT_FALSE(exchange.arrived(0, 1, status));
  EXPECT_FALSE(exchange.arrived(1, 0, status));
  provider().deliver(first_ + 1, bytes_of(kBytes, 5));
  EXPECT_TRUE(exchange.arrived(0, 1, status));
  EXPECT_FALSE(exchange.arrived(0, 0, status));
  EXPECT_EQ(buffers_.recv[kBytes], std::byte{5});
  exchange.ready(1, 0);
  EXPECT_TRUE(exchange.arrived(1, 0, status)) << "from the rank itself";
  EXPECT_TRUE(status.ok());
  exchange.give_up_missing_parts();
  provider().settle_all(kBytes);
  rig_.poll();
  EXPECT_TRUE(exchange.run().done());
}

TEST_F(InParts, RefusedPartsAreRepeated) {
  core::Persistent exchange = make();
  start(exchange);
  provider().refuse_peer(1, kSend, true);
  for (std::size_t part = 0; part < 3; ++part) exchange.ready(0, part);
  exchange.ready(1, 0);
  EXPECT_THAT(posted(kSend), ElementsAre());
  provider().refuse_peer(1, kSend, false);
  rig_.poll();
  EXPECT_THAT(posted(kSend), ElementsAre(0, 1, 2));
  provider().settle_all(kBytes);
  core::finish(exchange.run());
  EXPECT_TRUE(exchange.run().status().ok());
}

// The peer waits for what is never sent, so it gets a notice in the place of each part.
TEST_F(InParts, WhatIsGivenUpIsToldToItsReceiver) {
  core::Persistent exchange = make();
  start(exchange);
  exchange.ready(0, 1);
  provider().complete_send(provider().posts().size() - 1);
  rig_.poll();
  exchange.give_up_missing_parts();
  rig_.poll();
  const std::vector<Post> posts = provider().posts();
  std::vector<std::uint64_t> told;
  for (std::size_t i = first_; i < posts.size(); ++i) {
    if (posts[i].kind != kSend || posts[i].message.size() < core::FrameHead::kBytes) continue;
    const auto notice = core::find_notice(core::read_frame_head(posts[i].message.data()));
    ASSERT_TRUE(notice.has_value());
    EXPECT_EQ(notice->code, Errc::cancelled);
    told.push_back(posts[i].tag & 0xff);
  }
  EXPECT_THAT(told, ElementsAre(0, 2));
  EXPECT_TRUE(exchange.run().done());
  EXPECT_EQ(exchange.run().status().errc(), Errc::cancelled);
  exchange.ready(0, 0);  // too late
}

TEST_F(InParts, AFailureEndsItWithoutTheMissingParts) {
  core::Persistent exchange = make();
  start(exchange);
  exchange.ready(0, 0);
  provider().fail(provider().posts().size() - 1, Errc::transport, "a cable");
  rig_.poll();
  rig_.poll();
  EXPECT_TRUE(exchange.run().done());
  EXPECT_EQ(exchange.run().status().errc(), Errc::transport);
  Status status;
  EXPECT_TRUE(exchange.arrived(0, 2, status));
  EXPECT_EQ(status.errc(), Errc::transport);
  exchange.ready(1, 0);
}

TEST_F(InParts, SaysWhichPartsAreMissing) {
  core::Persistent exchange = make();
  start(exchange);
  exchange.ready(0, 0);
  exchange.ready(0, 1);
  {
    const core::Lock lock(rig_.engine());
    EXPECT_THAT(exchange.run().describe_pending(),
                testing::AllOf(testing::HasSubstr("slot 2, through recording), whose parts are not all ready"),
                               testing::HasSubstr("local copy, whose parts are not all ready")));
  }
  exchange.give_up_missing_parts();
  provider().settle_all(kBytes);
  rig_.poll();
}

// The run begins when addresses are known; what was marked before leaves then.
TEST(InPartsEarly, PartsMayBeReadyBeforeThePeerIsKnown) {
  RecordingRig rig({.known = false});
  Buffers buffers(16);
  ScheduleBuilder builder("test", 4);
  for (std::uint32_t part = 0; part < 2; ++part)
    builder.send(1, part, {BufferId::send, static_cast<std::ptrdiff_t>(8 * part), Layout::contiguous(8)});
  const std::array<std::byte*, 2> bases{buffers.send.data(), buffers.recv.data()};
  core::Persistent exchange(rig.world(), builder.commit(), bases);
  PartedBlock block{.group_of = {0, 1}};
  for (std::uint32_t part = 0; part < 2; ++part)
    block.groups.push_back(exchange.run().plan().find(OperationKind::send, {1, part}));
  exchange.divide(
      std::make_unique<core::Partition>("test", std::vector<PartedBlock>{block}, std::vector<PartedBlock>{}));
  {
    const core::Lock lock(rig.engine());
    exchange.start();
  }
  buffers.send[8] = std::byte{42};
  exchange.ready(0, 1);
  rig.publish(1);
  rig.poll();
  const std::vector<Post> posts = rig.provider().posts();
  const auto sent = std::ranges::count_if(posts, [](const Post& post) { return post.bytes() == 8; });
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(posts.back().message.front(), std::byte{42}) << "what it held when it was marked";
  exchange.ready(0, 0);
  rig.provider().settle_all(0);
  core::finish(exchange.run());
  EXPECT_TRUE(exchange.run().status().ok()) << exchange.run().status().message;
}

}  // namespace
}  // namespace fab::test
