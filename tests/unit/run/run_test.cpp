// The posts of a run, their times, and the orders in which they may end.
#include "core/run/run.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/run/wait.h"
#include "core/wire/frame.h"
#include "core/wire/message_parts.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

TEST(Run, PostsEveryOperationOnce) {
  RecordingRig rig;
  Buffers buffers(24);
  buffers.send[8] = std::byte{7};
  core::Run& run = rig.start(exchange_with({1, 2, 3}, 8), buffers);
  rig.poll();
  const std::vector<Post> posts = rig.provider().posts();
  ASSERT_EQ(posts.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(posts[i].kind, kRecv);
    EXPECT_EQ(posts[i].peer, i + 1);
    EXPECT_EQ(posts[i].pieces[0].iov_base, buffers.recv.data() + 8 * i);
    EXPECT_EQ(posts[i].pieces[0].iov_len, 8u);
    EXPECT_EQ(posts[i + 3].kind, kSend);
    EXPECT_EQ(posts[i + 3].peer, i + 1);
  }
  EXPECT_EQ(posts[4].message, std::vector<std::byte>(buffers.send.begin() + 8, buffers.send.begin() + 16));
  EXPECT_FALSE(run.done());
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_TRUE(run.done());
  EXPECT_TRUE(run.status().ok());
  EXPECT_EQ(buffers.recv, bytes_of(24, 0));
  rig.let_go(run);
}

TEST(Run, OnlyTheFrameMarkMayDifferBetweenSenderAndReceiver) {
  RecordingRig rig;
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  const std::vector<Post> posts = rig.provider().posts();
  EXPECT_EQ(posts[0].ignore, rig.context().tags().framed());
  rig.provider().settle_all(8);
  rig.poll();
  rig.let_go(run);
}

TEST(Run, RefusedPostsAreRepeatedUntilTheyAreAccepted) {
  for (const std::size_t refusals : {1u, 2u, 5u, 6u, 7u, 50u}) {
    RecordingRig rig;
    Buffers buffers(24);
    rig.provider().refuse(refusals);
    core::Run& run = rig.start(exchange_with({1, 2, 3}, 8), buffers);
    for (int i = 0; i < 60; ++i) rig.poll();
    EXPECT_EQ(rig.provider().refusals(), refusals);
    ASSERT_EQ(rig.provider().posts().size(), 6u);
    for (const PeerHandle peer : {1u, 2u, 3u})
      for (const OperationKind kind : {kRecv, kSend}) EXPECT_NO_THROW((void)rig.provider().find(kind, peer));
    rig.provider().settle_all(8);
    rig.poll();
    EXPECT_TRUE(run.done() && run.status().ok());
    rig.let_go(run);
  }
}

TEST(Run, OnePeersRefusalsHoldUpNoOtherPeer) {
  RecordingRig rig;
  Buffers buffers(24);
  for (const OperationKind kind : {kRecv, kSend}) rig.provider().refuse_peer(1, kind, true);
  core::Run& run = rig.start(exchange_with({1, 2, 3}, 8), buffers);
  rig.poll();
  EXPECT_EQ(rig.provider().posts().size(), 4u);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_FALSE(run.done());
  for (const OperationKind kind : {kRecv, kSend}) rig.provider().refuse_peer(1, kind, false);
  rig.poll();
  EXPECT_EQ(rig.provider().posts().size(), 6u);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

// Some are taken back while they wait: the first, one in the middle and the last.
TEST(Run, RefusedSendsToOnePeerLeaveInTheOrderOfTheirStarts) {
  constexpr std::size_t kRuns = 20;
  RecordingRig rig;
  std::vector<Buffers> buffers(kRuns, Buffers(8));
  std::vector<core::Run*> runs;
  rig.provider().refuse_peer(1, kSend, true);
  for (Buffers& its : buffers) runs.push_back(&rig.start(exchange_with({1}, 8), its));
  const std::size_t before = rig.provider().refusals();
  rig.poll();
  EXPECT_EQ(rig.provider().refusals(), before + 1) << "who waits behind a refused one is not tried";
  const std::set<std::size_t> failing{0, 7, kRuns - 1};
  for (const std::size_t i : failing) rig.provider().fail(rig.provider().find(kRecv, 1, i), Errc::transport, "x");
  rig.poll();
  rig.provider().refuse_peer(1, kSend, false);
  rig.poll();
  ASSERT_EQ(rig.provider().count(kSend), kRuns - failing.size());
  for (std::size_t i = 0, sent = 0; i < kRuns; ++i) {
    if (failing.contains(i)) continue;
    const std::vector<Post> posts = rig.provider().posts();
    EXPECT_EQ(posts[rig.provider().find(kSend, 1, sent++)].tag, posts[rig.provider().find(kRecv, 1, i)].tag);
  }
  rig.provider().settle_all(8);
  rig.poll();
  for (std::size_t i = 0; i < kRuns; ++i) {
    EXPECT_TRUE(runs[i]->done());
    EXPECT_EQ(runs[i]->status().ok(), !failing.contains(i));
    rig.let_go(*runs[i]);
  }
}

// The second part of a message takes the transfer of a send of the round before, which was repeated and done at once.
TEST(Run, ARefusedPartStaysBehindTheOneBeforeItInTheTransferOfARepeatedSend) {
  RecordingRig::Options options;
  options.capabilities.inject_bytes = 8;
  RecordingRig rig(options);
  constexpr std::size_t kLong = 100'000;
  ScheduleBuilder builder("test", 2);
  for (const std::uint32_t slot : {0u, 1u})
    builder.send(1, slot, {BufferId::send, static_cast<std::ptrdiff_t>(8 * slot), Layout::contiguous(8)});
  builder.round();
  builder.send(1, 0, {BufferId::send, 0, Layout::contiguous(kLong)});
  Buffers buffers(kLong);
  rig.provider().refuse(1, 1);
  core::Run& run = rig.start(builder.commit(), buffers);
  ASSERT_EQ(rig.provider().count(kSend), 1u);
  rig.provider().refuse(1, 1);
  for (int i = 0; i < 3; ++i) rig.poll();
  const std::vector<Post> posts = rig.provider().posts();
  ASSERT_EQ(posts.size(), 4u) << "two short messages, and one of two parts";
  EXPECT_EQ(posts[2].bytes(), core::kHeadBytes);
  EXPECT_EQ(posts[2].bytes() + posts[3].bytes(), kLong + core::frame_bytes(1));
  {
    const core::Lock lock(rig.engine());
    EXPECT_THAT(run.describe_pending(), testing::EndsWith("rank 1 (100000 B, slot 0, through recording) in 2 parts"));
  }
  rig.provider().settle_all(0);
  rig.poll();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

TEST(Run, OrderOfCompletionsDoesNotMatter) {
  RecordingRig rig;
  const auto pool = rig.pool(exchange_with({1, 2, 3}, 8));
  std::vector<std::size_t> order(6);
  std::iota(order.begin(), order.end(), 0u);
  do {
    Buffers buffers(24);
    const std::size_t first = rig.provider().posts().size();
    core::Run& run = rig.start(*pool, buffers);
    const bool one_poll_each = order[0] % 2 == 0;
    for (const std::size_t i : order) {
      ASSERT_FALSE(run.done());
      if (i < 3)
        rig.provider().deliver(first + i, bytes_of(8, static_cast<unsigned>(10 + i)));
      else
        rig.provider().complete_send(first + i);
      if (one_poll_each) rig.poll();
    }
    rig.poll();
    ASSERT_TRUE(run.done() && run.status().ok());
    for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(buffers.recv[8 * i + 7], static_cast<std::byte>(10 + i));
    rig.let_go(run);
  } while (std::next_permutation(order.begin(), order.end()));
}

Schedule three_rounds() {
  ScheduleBuilder builder("test", 4);
  const std::ptrdiff_t aside = builder.scratch(8);
  builder.recv(1, 0, {BufferId::scratch, aside, Layout::contiguous(8)});
  builder.recv(2, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.round();
  builder.copy({BufferId::scratch, aside, Layout::contiguous(8)}, {BufferId::recv, 8, Layout::contiguous(8)});
  builder.round();
  builder.send(3, 0, {BufferId::recv, 8, Layout::contiguous(8)});
  return builder.commit();
}

TEST(Run, ARoundStartsWhenTheOneBeforeIsDone) {
  for (const bool reversed : {false, true}) {
    RecordingRig rig;
    Buffers buffers(16);
    core::Run& run = rig.start(three_rounds(), buffers);
    for (const std::size_t receive : reversed ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{0, 1}) {
      EXPECT_EQ(rig.provider().count(kSend), 0u);
      rig.provider().deliver(receive, bytes_of(8, receive == 0 ? 40 : 50));
      rig.poll();
    }
    ASSERT_EQ(rig.provider().count(kSend), 1u);
    EXPECT_EQ(rig.provider().posts()[2].message, bytes_of(8, 40));
    EXPECT_EQ(buffers.recv[0], std::byte{50});
    EXPECT_FALSE(run.done());
    rig.provider().complete_send(2);
    rig.poll();
    EXPECT_TRUE(run.done() && run.status().ok());
    rig.let_go(run);
  }
}

// Rounds that finish inside their own posts must not nest: the stack would grow with each.
TEST(Run, ManyRoundsOfInjectedSendsEndInsideStart) {
  RecordingRig::Options options;
  options.capabilities.inject_bytes = 64;
  RecordingRig rig(options);
  ScheduleBuilder builder("test", 2);
  for (int i = 0; i < 50'000; ++i) {
    builder.send(1, 0, {BufferId::send, 0, Layout::contiguous(1)});
    builder.round();
  }
  Buffers buffers(1);
  core::Run& run = rig.start(builder.commit(), buffers);
  EXPECT_TRUE(run.done() && run.status().ok());
  EXPECT_EQ(rig.provider().count(kSend), 50'000u);
  rig.let_go(run);
}

TEST(Run, AnEmptyScheduleIsDoneAtOnce) {
  RecordingRig rig;
  Buffers buffers(1);
  core::Run& run = rig.start(ScheduleBuilder("test", 4).commit(), buffers);
  EXPECT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

TEST(Run, RunsOfOnePlanDoNotMix) {
  constexpr std::size_t kRuns = 100;
  RecordingRig rig;
  const auto pool = rig.pool(exchange_with({1}, 8));
  std::vector<Buffers> buffers(kRuns, Buffers(8));
  std::vector<core::Run*> runs;
  for (Buffers& each : buffers) runs.push_back(&rig.start(*pool, each));
  rig.poll();
  std::set<std::uint64_t> tags;
  for (const Post& post : rig.provider().posts())
    if (post.kind == kRecv) tags.insert(post.tag);
  EXPECT_EQ(tags.size(), kRuns);
  for (std::size_t i = kRuns; i-- > 0;) {
    rig.provider().deliver(rig.provider().find(kRecv, 1, i), bytes_of(8, static_cast<unsigned>(i)));
    rig.provider().complete_send(rig.provider().find(kSend, 1, i));
    rig.poll();
    EXPECT_TRUE(runs[i]->done() && runs[i]->status().ok());
    EXPECT_TRUE(i == 0 || !runs[i - 1]->done());
    EXPECT_EQ(buffers[i].recv, bytes_of(8, static_cast<unsigned>(i)));
  }
  for (core::Run* run : runs) rig.let_go(*run);
}

TEST(Run, IsUsedAgainAfterItsRelease) {
  RecordingRig rig;
  const auto pool = rig.pool(exchange_with({1}, 8));
  const core::Run* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    Buffers buffers(8);
    core::Run& run = rig.start(*pool, buffers);
    rig.poll();
    if (first == nullptr) first = &run;
    EXPECT_EQ(&run, first);
    rig.provider().settle_all(8);
    rig.poll();
    rig.let_go(run);
  }
}

TEST(Run, TestMakesProgressOnce) {
  RecordingRig rig;
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  EXPECT_FALSE(core::test(run));
  rig.provider().settle_all(8);
  EXPECT_TRUE(core::test(run));
  rig.let_go(run);
}

TEST(Run, WaitAnyFindsTheOneThatIsDone) {
  RecordingRig rig;
  const auto pool = rig.pool(exchange_with({1}, 8));
  std::vector<Buffers> buffers(3, Buffers(8));
  std::vector<core::Pending*> runs{nullptr};
  for (Buffers& each : buffers) runs.push_back(&rig.start(*pool, each));
  rig.poll();
  rig.provider().deliver(rig.provider().find(kRecv, 1, 1), bytes_of(8, 0));
  rig.provider().complete_send(rig.provider().find(kSend, 1, 1));
  EXPECT_EQ(core::wait_any(runs), 2u);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_EQ(core::wait_any(runs), 1u) << "the first of several";
  for (core::Pending* run : runs)
    if (run != nullptr) rig.let_go(static_cast<core::Run&>(*run));
}

}  // namespace
}  // namespace fab::test
