// FAB_WAIT_TIMEOUT: waiting ends with an error that names the peers. The test turns the
// clock.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "core/run/wait.h"
#include "support/comes_true.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/turned_clock.h"

namespace fab::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kTimeoutS = 0.05;

/// Time passes as often as a caller that waits asks how late it is.
class TimedRig : public RecordingRig {
 public:
  explicit TimedRig(bool known = true) : RecordingRig(with_timeout(known)) { context().set_clock(RunningClock::now); }

 private:
  static Options with_timeout(bool known) {
    Options options;
    options.config.wait_timeout_s = kTimeoutS;
    options.known = known;
    return options;
  }
};

class WaitTimeout : public testing::TestWithParam<Cancelling> {
 protected:
  WaitTimeout() { rig_.provider().set_cancelling(GetParam()); }
  RecordingProvider& provider() { return rig_.provider(); }

  TimedRig rig_;
  Buffers buffers_{240};
};

INSTANTIATE_TEST_SUITE_P(Cancelling, WaitTimeout, testing::Values(Cancelling::in_cancel, Cancelling::in_next_poll));

TEST_P(WaitTimeout, NamesWhatIsPendingAndTakesReceivesBack) {
  core::Run& run = rig_.start(exchange_with({1, 2, 3}, 8), buffers_);
  provider().deliver(provider().find(kRecv, 1), bytes_of(8, 0));
  provider().complete_send(provider().find(kSend, 1));
  provider().complete_send(provider().find(kSend, 2));
  const auto begin = RunningClock::now();
  core::wait(run);
  EXPECT_GE(std::chrono::duration<double>(RunningClock::now() - begin).count(), kTimeoutS);
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.status().errc(), Errc::timed_out);
  EXPECT_EQ(run.status().message,
            "test: no progress for 0.05 s (FAB_WAIT_TIMEOUT); still pending: "
            "receive from rank 2 (8 B, slot 0, through recording); "
            "receive from rank 3 (8 B, slot 0, through recording); "
            "send to rank 3 (8 B, slot 0, through recording)");
  for (const PeerHandle peer : {2u, 3u}) EXPECT_TRUE(provider().posts()[provider().find(kRecv, peer)].cancel_asked);
  provider().complete_send(provider().find(kSend, 3));
  rig_.poll();
  rig_.let_go(run);
}

TEST_P(WaitTimeout, ForgetsRefusedPosts) {
  for (const OperationKind kind : {kRecv, kSend}) provider().refuse_peer(1, kind, true);
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  core::wait(run);
  EXPECT_EQ(run.status().errc(), Errc::timed_out);
  EXPECT_THAT(run.status().message, AllOf(HasSubstr("receive from rank 1"), HasSubstr("send to rank 1")));
  for (const OperationKind kind : {kRecv, kSend}) provider().refuse_peer(1, kind, false);
  rig_.poll();
  EXPECT_FALSE(in_use(buffers_, provider().posts())) << "what the peer sends is thrown away, and it is told";
  EXPECT_EQ(provider().posts().size(), 2u);
  provider().settle_all(0);
  rig_.poll();
  rig_.let_go(run);
}

// The provider still reads the buffers of sends in flight, so their plan and run must stay until it is done with them.
TEST_P(WaitTimeout, SendsInFlightKeepTheirMemory) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  core::wait(run);
  ASSERT_EQ(run.status().errc(), Errc::timed_out);
  rig_.let_go(run);
  EXPECT_EQ(rig_.retired_plans(), 1u);
  provider().complete_send(provider().find(kSend, 1));
  rig_.poll();
  EXPECT_EQ(rig_.retired_plans(), 0u);
}

TEST_P(WaitTimeout, ALateFailureOfAnAbandonedSendChangesNothing) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  core::wait(run);
  provider().fail(provider().find(kSend, 1), Errc::transport, "too late");
  rig_.poll();
  EXPECT_EQ(run.status().errc(), Errc::timed_out);
  rig_.let_go(run);
}

TEST_P(WaitTimeout, AnAbandonedRunIsUsedAgainOnlyWhenItsSendsAreDone) {
  const auto pool = rig_.pool(exchange_with({1}, 8));
  core::Run& abandoned = rig_.start(*pool, buffers_);
  core::wait(abandoned);
  rig_.let_go(abandoned);
  core::Run& second = rig_.start(*pool, buffers_);
  EXPECT_NE(&second, &abandoned);
  provider().settle_all(8);
  rig_.poll();
  EXPECT_TRUE(second.done() && second.status().ok()) << second.status().message;
  rig_.let_go(second);
}

TEST_P(WaitTimeout, WaitAnyEndsToo) {
  core::Run& first = rig_.start(exchange_with({1}, 8), buffers_);
  core::Run& second = rig_.start(exchange_with({2}, 8), buffers_);
  core::Pending* const runs[] = {&first, &second};
  EXPECT_EQ(core::wait_any(runs), 0u);
  EXPECT_EQ(first.status().errc(), Errc::timed_out);
  provider().settle_all(8);
  rig_.poll();
  core::wait(second);
  rig_.let_go(first);
  rig_.let_go(second);
}

// Times that have passed: no clock has to move.
TEST(WaitAnyUntil, ReturnsNoneThatIsStillGoingOnAndThenTheOneThatIsDone) {
  RecordingRig rig;
  Buffers buffers(16);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  core::Pending* const all[] = {nullptr, &run};
  EXPECT_EQ(core::wait_any_until(all, std::chrono::steady_clock::now()), std::nullopt);
  EXPECT_FALSE(run.done());
  rig.provider().settle_all(8);
  EXPECT_EQ(core::wait_any_until(all, std::chrono::steady_clock::now()), 1u) << "it polls once before it gives up";
  EXPECT_TRUE(run.status().ok());
  rig.let_go(run);
}

TEST(WaitTimeoutClock, StartsAnewWithEveryCompletion) {
  RecordingRig::Options options;
  options.config.wait_timeout_s = 2;
  RecordingRig rig(options);
  rig.context().set_clock(TurnedClock::now);
  Buffers buffers(32);
  core::Run& run = rig.start(exchange_with({1}, 8, 4), buffers);
  // Each look of the caller's takes two readings of the clock at most.
  const auto caller_looks = [&run] {
    return comes_true([&run, end = TurnedClock::looks() + 3] { return TurnedClock::looks() >= end || run.done(); });
  };
  std::thread caller([&run] { core::wait(run); });
  EXPECT_TRUE(caller_looks());
  for (std::size_t i = 0; i < 4; ++i) {
    TurnedClock::turn(std::chrono::milliseconds(1500));
    EXPECT_TRUE(caller_looks());
    if (run.done()) break;  // given up
    const std::uint64_t settled = run.settled_count();
    rig.provider().deliver(rig.provider().find(kRecv, 1, i), bytes_of(8, 0));
    rig.provider().complete_send(rig.provider().find(kSend, 1, i));
    EXPECT_TRUE(comes_true([&] { return run.settled_count() == settled + 2 || run.done(); }));
  }
  caller.join();
  EXPECT_TRUE(run.status().ok()) << run.status().message;
  rig.provider().settle_all(8);
  rig.poll();
  rig.let_go(run);
}

TEST(WaitTimeoutLookUp, NamesRanksWithoutAddress) {
  TimedRig rig(false);
  Buffers buffers(24);
  rig.publish(1);
  core::Run& run = rig.start(exchange_with({1, 3}, 8), buffers);
  core::wait(run);
  EXPECT_EQ(run.status().errc(), Errc::timed_out);
  EXPECT_THAT(run.status().message,
              AllOf(HasSubstr("rank 3 (number 3 of the job) has not published its address"), Not(HasSubstr("rank 1"))));
  rig.publish(3);
  rig.poll();
  EXPECT_FALSE(in_use(buffers, rig.provider().posts())) << "the run is over";
  rig.provider().settle_all(0);
  rig.poll();
  rig.let_go(run);
}

TEST(WaitTimeoutLookUp, NamesAMissingContextId) {
  TimedRig rig;
  const auto communicator = rig.communicator(std::nullopt);
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers, *communicator);
  core::wait(run);
  EXPECT_EQ(run.status().errc(), Errc::timed_out);
  EXPECT_THAT(run.status().message, HasSubstr("the communicator has no context id yet"));
  rig.let_go(run);
}

}  // namespace
}  // namespace fab::test
