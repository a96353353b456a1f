// The progress thread drives while no caller waits, and sleeps while nothing is active.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "core/base/ticks.h"
#include "core/run/wait.h"
#include "support/comes_true.h"
#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using core::ProgressPolicy;
using core::ThreadState;
using Time = ProgressPolicy::Time;

/// What the thread is at, and when it will look by itself.
struct Rest {
  explicit Rest(RecordingRig& rig) {
    const core::Lock lock(rig.engine());
    state = rig.engine().thread_state();
    limit = rig.engine().thread_sleep_limit();
  }
  bool operator==(const Rest&) const = default;

  ThreadState state;
  Time limit;
};

/// The thread goes to sleep in this state, for at least `shortest` unless a caller wakes it.
[[nodiscard]] bool comes_to_rest(RecordingRig& rig, ThreadState state, Time shortest) {
  return comes_true([&] {
    const Rest rest(rig);
    return rest.state == state && rest.limit >= shortest;
  });
}

RecordingRig::Options with_thread() {
  RecordingRig::Options options;
  options.config.progress = ProgressMode::thread;
  options.capabilities.wait_fd = true;
  return options;
}

Schedule two_rounds() {
  ScheduleBuilder builder("test", 3);
  builder.recv(1, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.round();
  builder.send(2, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  return builder.commit();
}

struct ThreadCase {
  const char* name;
  ProgressMode progress;
  bool wait_fd;
};

/// A thread that sleeps, one that polls, and one that looks again and again.
class ProgressThread : public testing::TestWithParam<ThreadCase> {
 protected:
  [[nodiscard]] static RecordingRig::Options options() {
    RecordingRig::Options options;
    options.config.progress = GetParam().progress;
    options.capabilities.wait_fd = GetParam().wait_fd;
    return options;
  }
  RecordingProvider& provider() { return rig_.provider(); }
  [[nodiscard]] bool is_posted(OperationKind kind, PeerHandle peer, std::size_t n = 0) {
    try {
      (void)provider().find(kind, peer, n);
      return true;
    } catch (const std::out_of_range&) {
      return false;
    }
  }

  [[nodiscard]] bool must_be_called() { return rig_.engine().thread_state() == ThreadState::parked; }

  RecordingRig rig_{options()};
  Buffers buffers_{80};
};

INSTANTIATE_TEST_SUITE_P(Ways, ProgressThread,
                         testing::Values(ThreadCase{"Sleeps", ProgressMode::automatic, true},
                                         ThreadCase{"Polls", ProgressMode::thread, false},
                                         ThreadCase{"BacksOff", ProgressMode::automatic, false}),
                         [](const auto& each) { return each.param.name; });

TEST_P(ProgressThread, FinishesWhatNoCallerWaitsFor) {
  core::Run& run = rig_.start(two_rounds(), buffers_);
  rig_.engine().hand_over_progress();
  provider().deliver(provider().find(kRecv, 1), bytes_of(8, 3));
  ASSERT_TRUE(comes_true([&] { return is_posted(kSend, 2); })) << "the second round";
  EXPECT_FALSE(run.done());
  provider().complete_send(provider().find(kSend, 2));
  ASSERT_TRUE(comes_true([&] { return run.done(); }));
  EXPECT_TRUE(run.status().ok());
  rig_.let_go(run);
}

TEST_P(ProgressThread, RepeatsRefusedPosts) {
  provider().refuse(7);
  core::Run& run = rig_.start(exchange_with({1, 2}, 8), buffers_);
  rig_.engine().hand_over_progress();
  ASSERT_TRUE(comes_true([&] { return provider().posts().size() == 4; }));
  provider().settle_all(8);
  ASSERT_TRUE(comes_true([&] { return run.done(); }));
  EXPECT_TRUE(run.status().ok());
  rig_.let_go(run);
}

TEST_P(ProgressThread, FinishesWhatWasLetGo) {
  const auto pool = rig_.pool(exchange_with({1}, 8));
  for (int i = 0; i < 100; ++i) {
    rig_.let_go(rig_.start(*pool, buffers_));
    rig_.engine().hand_over_progress();
    provider().settle_all(8);
  }
  EXPECT_TRUE(comes_true([&] {
    const core::Lock lock(rig_.engine());  // the last one has let go of its plan, too
    return rig_.engine().active() == 0;
  }));
}

TEST_P(ProgressThread, TakesOverFromACallerThatLeaves) {
  core::Run& waited = rig_.start(exchange_with({1}, 8), buffers_);
  core::Run& other = rig_.start(exchange_with({2}, 8), buffers_);
  std::thread peer([&, before = provider().polls()] {
    EXPECT_TRUE(comes_true([&] { return provider().polls() > before; })) << "the caller drives";
    provider().deliver(provider().find(kRecv, 1), bytes_of(8, 0));
    provider().complete_send(provider().find(kSend, 1));
  });
  core::wait(waited);
  peer.join();
  EXPECT_FALSE(other.done());
  provider().settle_all(8);
  EXPECT_TRUE(comes_true([&] { return other.done(); })) << "no thread has called leave";
  rig_.let_go(waited);
  rig_.let_go(other);
}

TEST_P(ProgressThread, SleepsUntilItIsCalledOnceNothingIsActive) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  rig_.engine().hand_over_progress();
  provider().settle_all(8);
  ASSERT_TRUE(comes_true([&] { return run.done(); }));
  rig_.let_go(run);
  EXPECT_TRUE(comes_to_rest(rig_, ThreadState::parked, ProgressPolicy::kForEver));
}

TEST_P(ProgressThread, MeetsNoBlockingCall) {
  const auto pool = rig_.pool(exchange_with({1}, 8));
  core::Run& first = rig_.start(*pool, buffers_);  // for the thread, which may be slow to come
  rig_.engine().hand_over_progress();
  provider().settle_all(8);
  ASSERT_TRUE(comes_true([&] { return first.done(); }));
  rig_.let_go(first);
  ASSERT_TRUE(comes_true([&] { return must_be_called(); }));
  const std::size_t before = provider().background_polls();
  for (int i = 0; i < 200; ++i) {
    core::Run& run = rig_.start(*pool, buffers_);
    provider().settle_all(8);
    core::wait(run);
    rig_.let_go(run);
  }
  EXPECT_EQ(provider().background_polls(), before);
  EXPECT_TRUE(must_be_called());
}

// What libfabric's TCP has no room for in the kernel leaves with a later poll, perhaps after the last call into fab.
TEST_P(ProgressThread, SeesToWhatAProviderHoldsBack) {
  RecordingRig::Options holding_back = options();
  holding_back.capabilities.may_hold_back = true;
  RecordingRig rig(holding_back);
  const auto polled_after = [&rig](std::size_t before) {
    return comes_true([&] { return rig.provider().background_polls() > before; });
  };
  for (int i = 0; i < 20; ++i) {
    core::Run& run = rig.start(exchange_with({1}, 8), buffers_);
    rig.provider().settle_all(8);
    core::wait(run);
    rig.let_go(run);
  }
  ASSERT_TRUE(polled_after(rig.provider().background_polls())) << "left alone";
  const bool told = GetParam().wait_fd;
  EXPECT_TRUE(
      comes_to_rest(rig, ThreadState::parked, told ? ProgressPolicy::kSafetyTimeout : ProgressPolicy::kLeftAlone))
      << "until there is room";
  const std::size_t before = rig.provider().background_polls();
  rig.provider().knock();
  EXPECT_TRUE(polled_after(before)) << "there is room again";
}

TEST(ProgressThreadSleep, CostsAFewWakeUpsASecondWhileAReceiveIsPending) {
  RecordingRig rig(with_thread());
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  rig.engine().hand_over_progress();
  EXPECT_TRUE(comes_to_rest(rig, ThreadState::waiting, 100 * ProgressPolicy::kMillisecond));
  rig.provider().settle_all(8);
  EXPECT_TRUE(comes_true([&] { return run.done(); }));
  rig.let_go(run);
}

/// Of ranks that are more than any machine has processors for.
RecordingRig::Options holding_back() {
  RecordingRig::Options options = with_thread();
  options.config.progress = ProgressMode::automatic;
  options.ranks = 10'000;
  return options;
}

// On the descriptors of a provider the next start would wake it.
TEST(ProgressThreadSleep, OnWhatIsHeldBackComesWithItsSecondLonelyLookIfItHoldsBack) {
  RecordingRig::Options options = holding_back();
  options.capabilities.may_hold_back = true;
  RecordingRig rig(options);
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  rig.provider().settle_all(8);
  core::wait(run);
  rig.let_go(run);
  EXPECT_TRUE(comes_to_rest(rig, ThreadState::parked, ProgressPolicy::kSafetyTimeout)) << "until there is room";
  EXPECT_GE(rig.provider().background_polls(), 2u);
}

// Without the call this sleep is over after 200 ms at the soonest: the caller's poll has silenced the descriptors.
TEST(ProgressThreadSleep, OnDescriptorsEndsWithALateCall) {
  const auto is_called_soon = [] {
    RecordingRig rig(holding_back());
    Buffers buffers(8);
    core::Run& run = rig.start(exchange_with({1}, 8), buffers);
    rig.engine().hand_over_progress();
    const auto sleeps = [&] { return rig.engine().thread_state() == ThreadState::waiting; };
    EXPECT_TRUE(comes_true(sleeps));
    const auto before = std::chrono::steady_clock::now();
    rig.engine().poll_once();         // and goes its way
    EXPECT_TRUE(comes_true(sleeps));  // again, after a turn
    const auto its_turn = std::chrono::steady_clock::now() - before;
    rig.provider().settle_all(8);
    EXPECT_TRUE(comes_true([&] { return run.done(); }));
    rig.let_go(run);
    return its_turn < std::chrono::milliseconds(150);
  };
  int soon = 0;
  for (int turn = 0; turn < 50 && soon < 5; ++turn)  // of which some may be kept from their processor
    if (is_called_soon()) ++soon;
  EXPECT_EQ(soon, 5);
}

TEST(ProgressThreadSleep, GrowsWhereNoDescriptorWouldEndItAndEndsWithAStart) {
  RecordingRig::Options options = with_thread();
  options.config.progress = ProgressMode::automatic;
  options.capabilities.wait_fd = false;
  RecordingRig rig(options);
  Buffers buffers(16);
  core::Run& old = rig.start(exchange_with({1}, 8), buffers);
  rig.engine().hand_over_progress();
  EXPECT_TRUE(comes_to_rest(rig, ThreadState::parked, ProgressPolicy::kFirstTimedSleep));
  EXPECT_TRUE(comes_to_rest(rig, ThreadState::parked, 20 * ProgressPolicy::kMillisecond));
  core::Run& fresh = rig.start(exchange_with({2}, 8), buffers);
  std::optional<Rest> rest;
  ASSERT_TRUE(comes_true([&] { return rest.emplace(rig).state == ThreadState::parked; }));
  rig.engine().hand_over_progress();
  EXPECT_NE(Rest(rig), *rest) << "it was called";
  rig.provider().settle_all(8);
  EXPECT_TRUE(comes_true([&] { return old.done() && fresh.done(); }));
  rig.let_go(old);
  rig.let_go(fresh);
}

TEST(ProgressThreadSleep, EndsWhenAnAddressArrives) {
  RecordingRig::Options options = with_thread();
  options.known = false;
  RecordingRig rig(options);
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  rig.engine().hand_over_progress();
  ASSERT_TRUE(comes_true([&] { return rig.engine().thread_state() == ThreadState::waiting; }));
  rig.publish(1);
  ASSERT_TRUE(comes_true([&] { return rig.provider().posts().size() == 2; }));
  rig.provider().settle_all(8);
  ASSERT_TRUE(comes_true([&] { return run.done(); }));
  EXPECT_EQ(rig.context().counters()[core::Counter::late_wake_ups], 0u);
  rig.let_go(run);
}

// The thread's first turn may find a run, and a caller may drive before the thread sleeps after it. Without a
// descriptor to be woken by, it would never end.
TEST(ProgressThreadSleep, EndsForEitherDriverBeforeTheFirst) {
  for (int i = 0; i < 2000; ++i) {
    RecordingRig rig(with_thread());
    Buffers buffers(8);
    core::Run& run = rig.start(exchange_with({1}, 8), buffers);
    rig.engine().hand_over_progress();
    for (int poll = 0; poll < 20; ++poll) rig.poll();
    rig.provider().settle_all(8);
    core::wait(run);
    rig.let_go(run);
  }
}

// From then on a start of that plan calls a thread in a timed sleep, too.
TEST(ProgressThreadTimedSleep, APlanRemembersThatItsRunWasLeftAlone) {
  RecordingRig::Options options = with_thread();
  options.config.progress = ProgressMode::automatic;
  options.capabilities.unattended_bytes = 7;
  RecordingRig rig(options);
  Buffers buffers(8);
  const auto pool = rig.pool(exchange_with({1}, 8));
  ASSERT_TRUE(comes_true([&] { return rig.engine().thread_state() == ThreadState::parked; }));
  core::Run& waited_for = rig.start(*pool, buffers);
  rig.provider().settle_all(8);
  core::finish(waited_for);
  rig.let_go(waited_for);
  ASSERT_FALSE(pool->needs_thread.load());
  core::Run& run = rig.start(*pool, buffers);
  rig.engine().hand_over_progress();
  for (const std::uint64_t begin = core::ticks(); core::ticks() - begin < 1'000'000;) {
  }
  rig.provider().settle_all(8);
  core::finish(run);
  EXPECT_TRUE(pool->needs_thread.load());
  rig.let_go(run);
}

TEST(ProgressMode, DecidesWhetherThereIsAThread) {
  const auto has_thread = [](ProgressMode mode, bool wait_fd) {
    RecordingRig::Options options;
    options.config.progress = mode;
    options.capabilities.wait_fd = wait_fd;
    return RecordingRig(options).engine().has_thread();
  };
  EXPECT_TRUE(has_thread(ProgressMode::automatic, true));
  EXPECT_TRUE(has_thread(ProgressMode::automatic, false));
  EXPECT_TRUE(has_thread(ProgressMode::thread, true));
  EXPECT_TRUE(has_thread(ProgressMode::thread, false));
  EXPECT_FALSE(has_thread(ProgressMode::caller, true));
}

}  // namespace
}  // namespace fab::test
