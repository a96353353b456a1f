// Failures of a run.
#include <gmock/gmock.h>

#include "core/run/run.h"
#include "core/run/wait.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using testing::HasSubstr;

class RunFailure : public testing::TestWithParam<Cancelling> {
 protected:
  RunFailure() { rig_.provider().set_cancelling(GetParam()); }

  core::Run& start(const Schedule& schedule) { return rig_.start(schedule, buffers_); }
  RecordingProvider& provider() { return rig_.provider(); }
  /// What was cancelled settles in the poll after the one in which it was cancelled.
  void poll() {
    rig_.poll();
    rig_.poll();
  }

  RecordingRig rig_;
  Buffers buffers_{240};
};

INSTANTIATE_TEST_SUITE_P(Cancelling, RunFailure, testing::Values(Cancelling::in_cancel, Cancelling::in_next_poll));

TEST_P(RunFailure, EveryFailureNamesCallPeerAndBytes) {
  const auto pool = rig_.pool(exchange_with({1, 2, 3}, 8));
  for (std::size_t failing = 0; failing < 6; ++failing) {
    const std::size_t first = provider().posts().size();
    core::Run& run = rig_.start(*pool, buffers_);
    rig_.poll();
    provider().fail(first + failing, Errc::transport, "the cable is cut");
    poll();
    provider().settle_all(8);
    poll();
    ASSERT_TRUE(run.done()) << failing;
    EXPECT_EQ(run.status().errc(), Errc::transport);
    const std::string operation = failing < 3 ? "receive from rank " : "send to rank ";
    EXPECT_EQ(run.status().message, "test: " + operation + std::to_string(failing % 3 + 1) +
                                        " (8 B, slot 0, through recording): the cable is cut");
    rig_.let_go(run);
  }
}

TEST_P(RunFailure, ReachesOnlyTheRunItBelongsTo) {
  core::Run& broken = start(exchange_with({1}, 8));
  core::Run& sound = start(exchange_with({1}, 8));
  provider().fail(provider().find(kRecv, 1, 0), Errc::transport, "x");
  poll();
  provider().settle_all(8);
  poll();
  EXPECT_EQ(broken.status().errc(), Errc::transport);
  EXPECT_TRUE(sound.done() && sound.status().ok());
  rig_.let_go(broken);
  rig_.let_go(sound);
}

TEST_P(RunFailure, TakesBackWhatTheSamePeerOwesAndLetsOthersEnd) {
  core::Run& run = start(exchange_with({1, 2}, 8, 3));
  provider().fail(provider().find(kRecv, 1, 1), Errc::transport, "x");
  rig_.poll();
  for (const Post& post : provider().posts()) {
    const bool failed_itself = post.settled && !post.cancel_asked;
    const bool owed_by_rank_1 = post.kind == kRecv && post.peer == 1 && !failed_itself;
    EXPECT_EQ(post.cancel_asked, owed_by_rank_1) << to_string(post.kind) << " " << post.peer;
  }
  poll();
  EXPECT_FALSE(run.done()) << "sends, and everything of rank 2, are still in flight";
  provider().settle_all(8);
  poll();
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::transport);
  EXPECT_THAT(run.status().message, HasSubstr("rank 1 (8 B, slot 1"));
  rig_.let_go(run);
}

TEST_P(RunFailure, ForgetsItsRefusedPostsToThePeer) {
  provider().refuse_peer(1, kSend, true);
  core::Run& failing = start(exchange_with({1, 2}, 8));
  core::Run& other = start(exchange_with({1}, 8));
  provider().fail(provider().find(kRecv, 1, 0), Errc::transport, "x");
  poll();
  provider().refuse_peer(1, kSend, false);
  poll();
  EXPECT_EQ(provider().count(kSend), 2u) << "to rank 2, and the other run's to rank 1";
  EXPECT_EQ(provider().posts().back().tag, provider().posts()[provider().find(kRecv, 1, 1)].tag);
  provider().settle_all(8);
  poll();
  EXPECT_TRUE(failing.done());
  EXPECT_EQ(failing.status().errc(), Errc::transport);
  EXPECT_TRUE(other.done() && other.status().ok());
  rig_.let_go(failing);
  rig_.let_go(other);
}

// The peer will never answer, so nothing may be left waiting for it, also nothing that was posted after the failure.
TEST_P(RunFailure, InsideAPost) {
  for (const OperationKind kind : {kRecv, kSend}) {
    SCOPED_TRACE(to_string(kind));
    const std::size_t before = provider().posts().size();
    provider().fail_in_post(1, kind, "connection refused");
    core::Run& run = start(exchange_with({1, 2}, 8, 3));
    poll();
    const std::vector<Post> posts = provider().posts();
    for (std::size_t i = before; i < posts.size(); ++i)
      if (posts[i].kind == kSend || posts[i].peer == 2) {
        if (posts[i].settled) continue;
        if (posts[i].kind == kSend)
          provider().complete_send(i);
        else
          provider().deliver(i, bytes_of(8, 0));
      }
    poll();
    EXPECT_TRUE(run.done()) << "it waits for a peer that is gone";
    EXPECT_EQ(run.status().errc(), Errc::transport);
    EXPECT_THAT(run.status().message, HasSubstr("rank 1 (8 B, slot 0, through recording): connection refused"));
    if (!run.done()) provider().settle_all(8);
    poll();
    rig_.let_go(run);
  }
}

// But a peer that waits for one of its messages is told.
TEST_P(RunFailure, NoRoundFollows) {
  ScheduleBuilder builder("test", 3);
  builder.recv(1, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.round();
  builder.send(2, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  core::Run& run = start(builder.commit());
  provider().fail(0, Errc::unreachable, "x");
  poll();
  EXPECT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::unreachable);
  ASSERT_EQ(provider().count(kSend), 1u);
  const Post told = provider().posts()[provider().find(kSend, 2)];
  ASSERT_EQ(told.message.size(), core::FrameHead::kBytes);
  const auto notice = core::find_notice(core::read_frame_head(told.message.data()));
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->failed_rank, 1);
  EXPECT_EQ(notice->code, Errc::unreachable);
  provider().complete_send(provider().find(kSend, 2));
  poll();
  rig_.let_go(run);
}

TEST_P(RunFailure, TellsOfWhatItHears) {
  core::Run& run = start(exchange_with({1}, 8));
  std::vector<std::byte> told(core::FrameHead::kBytes);
  core::write_notice({.failed_rank = 3, .code = Errc::unreachable}, told.data());
  provider().deliver(provider().find(kRecv, 1), told, rig_.context().tags().framed());
  provider().complete_send(provider().find(kSend, 1));
  poll();
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::unreachable);
  EXPECT_THAT(run.status().message, AllOf(HasSubstr("receive from rank 1"), HasSubstr("with rank 3 of the job")));
  rig_.let_go(run);
}

// Who gave up after a time does not know by whose fault; this rank may.
TEST_P(RunFailure, OfARankThatTimedOutNamesWhatElseIsPending) {
  core::Run& run = start(exchange_with({1, 2}, 8));
  std::vector<std::byte> told(core::FrameHead::kBytes);
  core::write_notice({.failed_rank = kNoRank, .code = Errc::timed_out}, told.data());
  for (const PeerHandle peer : {1u, 2u}) provider().complete_send(provider().find(kSend, peer));
  provider().deliver(provider().find(kRecv, 1), told, rig_.context().tags().framed());
  poll();
  EXPECT_EQ(run.status().errc(), Errc::timed_out);
  EXPECT_EQ(run.status().message,
            "test: receive from rank 1 (8 B, slot 0, through recording): that rank failed (timed out); still pending "
            "here: receive from rank 2 (8 B, slot 0, through recording)");
  if (!run.done()) provider().settle_all(8);
  poll();
  rig_.let_go(run);
}

TEST_P(RunFailure, TheFirstOneIsReportedAndEveryBrokenPeerIsGivenUp) {
  core::Run& run = start(exchange_with({1, 2, 3}, 8, 2));
  provider().fail(provider().find(kRecv, 2, 0), Errc::transport, "first");
  poll();
  provider().fail(provider().find(kSend, 1, 0), Errc::unreachable, "second");
  poll();
  for (const Post& post : provider().posts()) {
    if (post.kind != kRecv || post.settled) continue;
    EXPECT_EQ(post.peer, 3u) << "the others' receives were taken back";
  }
  provider().settle_all(8);
  poll();
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::transport);
  EXPECT_THAT(run.status().message, HasSubstr("rank 2 (8 B, slot 0, through recording): first"));
  rig_.let_go(run);
}

TEST_P(RunFailure, AMessageMayOvertakeItsCancellation) {
  provider().set_cancelling(Cancelling::never);
  core::Run& run = start(exchange_with({1}, 8, 2));
  provider().fail(provider().find(kRecv, 1, 0), Errc::transport, "x");
  rig_.poll();
  EXPECT_TRUE(provider().posts()[1].cancel_asked);
  provider().settle_all(8);
  rig_.poll();
  EXPECT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::transport);
  rig_.let_go(run);
}

TEST_P(RunFailure, TheNextRunOfThePlanIsSound) {
  const auto pool = rig_.pool(exchange_with({1, 2}, 8));
  core::Run* failed = nullptr;
  for (const bool fails : {true, false, true, false}) {
    const std::size_t first = provider().posts().size();
    core::Run& run = rig_.start(*pool, buffers_);
    rig_.poll();
    EXPECT_TRUE(failed == nullptr || failed == &run);
    failed = &run;
    if (fails) provider().fail(first + 1, Errc::transport, "x");
    poll();
    provider().settle_all(8);
    poll();
    ASSERT_TRUE(run.done());
    EXPECT_EQ(run.status().ok(), !fails) << run.status().message;
    rig_.let_go(run);
  }
}

TEST_P(RunFailure, ShorterAndLongerMessages) {
  const std::vector<std::byte> before = buffers_.recv;
  for (const std::size_t bytes : {0u, 7u, 9u, 1000u}) {
    SCOPED_TRACE(bytes);
    const std::size_t first = provider().posts().size();
    core::Run& run = start(exchange_with({1}, 8));
    provider().deliver(first, bytes_of(bytes, 9));
    provider().complete_send(first + 1);
    poll();
    ASSERT_TRUE(run.done());
    EXPECT_EQ(run.status().errc(), bytes > 8 ? Errc::truncated : Errc::mismatch);
    EXPECT_THAT(run.status().message, HasSubstr("test: receive from rank 1 (8 B, slot 0"));
    EXPECT_THAT(run.status().message, HasSubstr(std::to_string(bytes) + " bytes arrived where 8 were declared"));
    EXPECT_TRUE(std::equal(before.begin() + 8, before.end(), buffers_.recv.begin() + 8)) << "written beyond the block";
    rig_.let_go(run);
  }
}

TEST_P(RunFailure, CopiesOfDifferentSizes) {
  ScheduleBuilder builder("test", 1);
  builder.copy({BufferId::send, 0, Layout::contiguous(9)}, {BufferId::recv, 0, Layout::contiguous(8)});
  core::Run& longer = start(builder.commit());
  EXPECT_EQ(longer.status().errc(), Errc::truncated);
  EXPECT_EQ(longer.status().message, "test: local copy: this rank sends itself 9 bytes where it receives 8");
  EXPECT_EQ(buffers_.recv, Buffers(240).recv);
  rig_.let_go(longer);
  ScheduleBuilder other("test", 1);
  other.copy({BufferId::send, 0, Layout::contiguous(7)}, {BufferId::recv, 0, Layout::contiguous(8)});
  core::Run& shorter = start(other.commit());
  EXPECT_EQ(shorter.status().errc(), Errc::mismatch);
  rig_.let_go(shorter);
}

}  // namespace
}  // namespace fab::test
