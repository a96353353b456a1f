// How a rank reacts to the loss of another one: which waits end, and what it tells its peers. The test turns the
// clock.
#include "core/failure/losses.h"

#include <gmock/gmock.h>

#include "core/point/point_to_point.h"
#include "core/run/run.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Rank kLost = 3;

class LossesTest : public testing::Test {
 protected:
  RecordingProvider& provider() { return rig_.provider(); }
  core::Run& start(const std::vector<Rank>& peers) { return start(peers, *rig_.world()); }
  core::Run& start(const std::vector<Rank>& peers, core::Communicator& communicator) {
    return rig_.start(exchange_with(peers, 8), buffers_, communicator);
  }
  void hear_of_loss() {
    const core::Lock lock(rig_.engine());
    rig_.context().losses().on_failure_notice({.failed_rank = kLost, .code = Errc::unreachable});
  }
  /// Looks every 50 ms, for so long.
  void pass(milliseconds time) {
    const core::Lock lock(rig_.engine());
    for (const auto end = now_ + time; now_ < end; now_ += milliseconds(50)) rig_.context().losses().look(now_);
  }
  /// Of a peer that lives. Outlives its use.
  core::Lifeline& lifeline_of(Rank rank) {
    lifeline_.rank = rank;
    lifeline_.state = core::Lifeline::State::connected;
    const core::Lock lock(rig_.engine());
    rig_.context().peers().known(rank).lifeline = &lifeline_;
    return lifeline_;
  }
  void give_up(core::Run& run) {
    const core::Lock lock(rig_.engine());
    run.abandon({make_error_code(Errc::mismatch), "a peer has refused it"});
  }
  /// The engine does not look by itself: pass() turns the clock.
  [[nodiscard]] bool doubt(core::Run& run, Completion& write, Rank peer) {
    const core::Lock lock(rig_.engine());
    core::Losses& losses = rig_.context().losses();
    rig_.engine().set_lookout(&losses);
    const bool doubted = losses.doubt(run, write, rig_.context().peers().known(peer),
                                      {make_error_code(Errc::unreachable), "the connection has ended"});
    rig_.engine().set_lookout(nullptr);
    return doubted;
  }
  void refuse(const core::Run& run, Rank peer) {
    const core::Lock lock(rig_.engine());
    constexpr std::string_view kReason = "its destructor";
    rig_.context().refusals().told_by(peer, {rig_.world()->context_id(), run.place()}, kReason);
  }
  [[nodiscard]] bool is_lost(Rank rank) {
    const core::Lock lock(rig_.engine());
    return rig_.context().losses().has_lost(rank);
  }
  std::vector<PeerHandle> dropped() {
    const core::Lock lock(rig_.engine());
    return provider().dropped();
  }
  /// This rank loses the lost one in a call.
  void fail_with_lost(core::Communicator& communicator) {
    const std::size_t first = provider().posts().size();
    core::Run& run = start({kLost}, communicator);
    provider().fail(first, Errc::unreachable, "the process has ended");
    rig_.poll();
    rig_.poll();
    ASSERT_TRUE(run.done());
    ASSERT_EQ(run.status().errc(), Errc::unreachable);
    rig_.let_go(run);
  }
  /// The first that this rank has told of.
  GivenUp told() { return provider().told_given_up().empty() ? GivenUp{} : provider().told_given_up().front(); }
  void end_well(core::Run& run) {
    provider().settle_all(8);
    rig_.poll();
    ASSERT_TRUE(run.done());
    EXPECT_TRUE(run.status().ok()) << run.status().message;
    rig_.let_go(run);
  }

  core::Lifeline lifeline_;
  RecordingRig rig_;
  Buffers buffers_{64};
  core::Lookout::Time now_ = core::Lookout::Time{} + seconds(1000);
};

TEST_F(LossesTest, EndNoWaitForTheLivingAlone) {
  core::Run& run = start({1, 2});
  hear_of_loss();
  pass(seconds(60));
  EXPECT_FALSE(run.done()) << run.status().message;
  end_well(run);
}

TEST_F(LossesTest, EndAWaitForTheLost) {
  core::Run& run = start({1, kLost});
  hear_of_loss();
  pass(seconds(1));
  ASSERT_TRUE(run.done());
  EXPECT_THAT(run.status().message, AllOf(HasSubstr("rank 3 of the job is lost"), HasSubstr("receive from rank 1")));
  rig_.let_go(run);
}

TEST_F(LossesTest, EndAWaitForWhoHasGivenUpThere) {
  core::Run& run = start({1, 2});
  fail_with_lost(*rig_.world());
  ASSERT_THAT(provider().told_given_up(), SizeIs(1));
  const GivenUp here = told();
  EXPECT_EQ(here.failed_rank, kLost);
  provider().show_given_up(2, here);
  pass(seconds(1));
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::unreachable);
  EXPECT_THAT(run.status().message, HasSubstr("rank 3 of the job is lost"));
  rig_.let_go(run);
}

TEST_F(LossesTest, EndNoWaitForWhoHasGivenUpElsewhere) {
  const auto other = rig_.communicator(core::ContextId{.owner = 1, .number = 7});
  core::Run& run = start({1, 2}, *other);
  fail_with_lost(*rig_.world());
  provider().show_given_up(2, told());
  pass(seconds(60));
  EXPECT_FALSE(run.done()) << run.status().message;
  end_well(run);
}

TEST_F(LossesTest, EndNoWaitWhileSomethingComes) {
  core::Run& run = start({1, 2});
  fail_with_lost(*rig_.world());
  const std::size_t receive = provider().find(kRecv, 1);
  provider().show_given_up(2, told());
  pass(milliseconds(200));
  provider().deliver(receive, bytes_of(8, 0));
  rig_.poll();
  pass(milliseconds(200));
  EXPECT_FALSE(run.done());
  pass(milliseconds(300));
  ASSERT_TRUE(run.done());
  rig_.let_go(run);
}

TEST_F(LossesTest, TellOnceThatACallWasGivenUpAndThatAnotherEndedWell) {
  fail_with_lost(*rig_.world());
  fail_with_lost(*rig_.world());
  ASSERT_THAT(provider().told_given_up(), SizeIs(1));
  end_well(start({1}));
  ASSERT_THAT(provider().told_given_up(), SizeIs(2));
  EXPECT_EQ(provider().told_given_up()[1].communicator, provider().told_given_up()[0].communicator);
  EXPECT_EQ(provider().told_given_up()[1].failed_rank, kNoRank);
  end_well(start({1}));
  EXPECT_THAT(provider().told_given_up(), SizeIs(2));
}

TEST_F(LossesTest, TellThatThisRankGoesOnOnlyByWhatBeganLater) {
  core::Run& older = start({1});
  fail_with_lost(*rig_.world());
  end_well(older);
  pass(seconds(1));
  EXPECT_THAT(provider().told_given_up(), SizeIs(1));
  core::Run& waits = start({2});
  pass(milliseconds(100));
  EXPECT_THAT(provider().told_given_up(), SizeIs(2));
  end_well(waits);
}

TEST_F(LossesTest, EndAReceiveFromAnyRankWhenNoneIsLeft) {
  core::Pending* receive = nullptr;
  std::array<std::byte, 8> memory{};
  {
    const core::Lock lock(rig_.engine());
    receive = &rig_.context().point_to_point().receive(*rig_.world(), core::MessageMemory(memory.data(), memory.size()),
                                                       {kAnySource, Tag{0}});
  }
  rig_.poll();
  fail_with_lost(*rig_.world());
  const GivenUp here = told();
  provider().show_given_up(1, here);
  provider().show_given_up(kLost, here);
  pass(seconds(60));
  EXPECT_FALSE(receive->done()) << receive->status().message;
  provider().show_given_up(2, here);
  pass(seconds(1));
  EXPECT_TRUE(receive->done());
  EXPECT_THAT(receive->status().message, HasSubstr("rank 3 of the job is lost"));
  const core::Lock lock(rig_.engine());
  if (!receive->done()) receive->abandon({make_error_code(Errc::cancelled), "the test has failed"});
  receive->let_go();
}

// It may have waited for long by then, for ranks that live. What is taken back comes back with the next poll.
TEST_F(LossesTest, EndNoConnectionOfWhatWasJustGivenUp) {
  provider().set_cancelling(Cancelling::in_next_poll);
  core::Run& run = start({1, 2});
  pass(seconds(10));
  give_up(run);
  pass(milliseconds(50));
  EXPECT_THAT(dropped(), IsEmpty());
  rig_.poll();
  EXPECT_TRUE(run.done());
  rig_.let_go(run);
}

TEST_F(LossesTest, EndTheConnectionThatKeepsWhatWasGivenUp) {
  provider().set_cancelling(Cancelling::never);
  core::Run& run = start({1});
  give_up(run);
  pass(milliseconds(1000));
  EXPECT_THAT(dropped(), IsEmpty());
  pass(milliseconds(200));
  EXPECT_THAT(dropped(), Contains(1));
  provider().fail(provider().find(kRecv, 1), Errc::unreachable, "its connection was ended");
  rig_.poll();
  EXPECT_TRUE(run.done());
  rig_.let_go(run);
}

// A rank that was stopped has not polled in between.
TEST_F(LossesTest, EndNoConnectionWithoutHavingLookedForAWhile) {
  provider().set_cancelling(Cancelling::in_next_poll);
  core::Run& run = start({1});
  give_up(run);
  pass(milliseconds(50));
  now_ += seconds(10);
  pass(milliseconds(50));
  EXPECT_THAT(dropped(), IsEmpty());
  rig_.poll();
  EXPECT_TRUE(run.done());
  rig_.let_go(run);
}

TEST_F(LossesTest, EndEachWaitForWhoseConnectionWasEnded) {
  core::Lifeline& line = lifeline_of(1);
  core::Run& run = start({1});
  pass(seconds(60));
  EXPECT_FALSE(run.done()) << run.status().message;
  line.cut_off = true;
  pass(seconds(1));
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::unreachable);
  EXPECT_THAT(run.status().message, HasSubstr("the connection with it was ended"));
  rig_.let_go(run);
  core::Run& later = start({1});  // its message, too, may have been on the way
  pass(seconds(1));
  ASSERT_TRUE(later.done());
  EXPECT_EQ(later.status().errc(), Errc::unreachable);
  rig_.let_go(later);
}

TEST_F(LossesTest, EndAWaitForWhoseConnectionWasEndedAfterOthersHaveToldOfIt) {
  core::Lifeline& line = lifeline_of(kLost);
  core::Run& run = start({kLost});
  hear_of_loss();
  pass(seconds(60));
  EXPECT_FALSE(run.done()) << run.status().message;  // its own line says that it lives
  line.cut_off = true;
  pass(seconds(1));
  ASSERT_TRUE(run.done());
  rig_.let_go(run);
}

// The failure of one of two calls gives up the communicator, and the other one, which is as old, is no sign that this
// rank goes on there.
TEST_F(LossesTest, TellOfNoGoingOnByWhatIsAsOld) {
  core::Lifeline& line = lifeline_of(kLost);
  core::Run& failing = start({kLost});
  core::Run& other = start({1});
  line.cut_off = true;
  pass(seconds(2));
  ASSERT_TRUE(failing.done());
  EXPECT_THAT(provider().told_given_up(), SizeIs(1));
  core::Run& younger = start({1});
  pass(milliseconds(100));
  EXPECT_THAT(provider().told_given_up(), SizeIs(2));
  for (core::Run* each : {&failing, &other, &younger}) rig_.let_go(*each);
}

/// A write of which the provider says that the connection has ended.
struct FailedWrite final : Completion {
  FailedWrite()
      : Completion([](Completion&, std::uint64_t, std::uint64_t) noexcept {},
                   [](Completion& self, const Status& status) noexcept {
                     static_cast<FailedWrite&>(self).ended.push_back(status.errc());
                   }) {}
  std::vector<Errc> ended;
};

TEST_F(LossesTest, AskWhyAWriteFailedAndEndByTheRefusal) {
  core::Run& run = start({1});
  FailedWrite write;
  ASSERT_TRUE(doubt(run, write, 1));
  pass(milliseconds(500));
  EXPECT_FALSE(run.done());
  EXPECT_THAT(write.ended, IsEmpty());
  refuse(run, 1);
  pass(milliseconds(50));
  EXPECT_THAT(write.ended, ElementsAre(Errc::cancelled));
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::mismatch) << run.status().message;
  EXPECT_FALSE(is_lost(1));
  rig_.let_go(run);
}

TEST_F(LossesTest, WaitForNoRefusalOfTheLost) {
  core::Run& run = start({1, kLost});
  FailedWrite write;
  ASSERT_TRUE(doubt(run, write, kLost));
  hear_of_loss();
  pass(milliseconds(50));
  EXPECT_THAT(write.ended, ElementsAre(Errc::cancelled));
  EXPECT_FALSE(doubt(run, write, kLost));
  give_up(run);
  rig_.poll();
  rig_.let_go(run);
}

TEST_F(LossesTest, WaitForARefusalForABoundedTime) {
  core::Run& run = start({1});
  FailedWrite write;
  ASSERT_TRUE(doubt(run, write, 1));
  pass(seconds(2));
  EXPECT_THAT(write.ended, IsEmpty());
  pass(milliseconds(100));
  EXPECT_THAT(write.ended, ElementsAre(Errc::cancelled));
  give_up(run);
  rig_.poll();
  rig_.let_go(run);
}

}  // namespace
}  // namespace fab::test
