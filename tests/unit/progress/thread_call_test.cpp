// When callers that go their way call a parked thread, and whether they have been away for long.
#include "core/progress/thread_call.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/timerfd.h>

#include <chrono>

#include "core/base/ticks.h"
#include "support/comes_true.h"

namespace fab::test {
namespace {

using core::ProgressPolicy;
using core::ThreadState;
using core::Urgency;

class ThreadCallTest : public testing::Test {
 protected:
  ThreadCallTest() { call_.open(); }

  void call_parked() {
    call_.set_state(ThreadState::parked, std::memory_order_relaxed);
    call_.call();
  }
  [[nodiscard]] bool called_at_once() const {
    pollfd event = call_.event();
    return ::poll(&event, 1, 0) == 1;
  }
  /// 0: not at all, or it is over.
  [[nodiscard]] ProgressPolicy::Time called_within() const {
    itimerspec timer{};
    EXPECT_EQ(::timerfd_gettime(call_.timer().fd, &timer), 0);
    return timer.it_value.tv_sec * ProgressPolicy::kSecond + timer.it_value.tv_nsec;
  }
  /// Whether that counts as an absence.
  bool leaves_for(std::uint64_t its_ticks) {
    const std::uint32_t before = call_.absences();
    call_parked();
    for (const std::uint64_t begin = core::ticks(); core::ticks() - begin < its_ticks;) {
    }
    call_.resume_polling();
    return call_.absences() != before;
  }

  core::ThreadCall call_;
};

TEST_F(ThreadCallTest, AParkedThreadIsCalledAtOnce) {
  call_parked();
  EXPECT_TRUE(called_at_once());
  EXPECT_EQ(call_.state(), ThreadState::awake);
}

TEST_F(ThreadCallTest, OneThatHoldsBackIsCalledTheLaterTheLessUrgentItIs) {
  call_.hold_back(false);
  for (const Urgency urgency : {Urgency::none, Urgency::sends, Urgency::peers}) {
    if (urgency != Urgency::none) call_.count(urgency, 1);
    const auto before = std::chrono::steady_clock::now();
    call_parked();
    EXPECT_EQ(call_.state(), ThreadState::timed_sleep);
    pollfd timer = call_.timer();
    ASSERT_EQ(::poll(&timer, 1, -1), 1);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::nanoseconds(ProgressPolicy::late_call(urgency)));
    EXPECT_EQ(call_.take(0, timer.revents).value().urgency, urgency);
  }
}

TEST_F(ThreadCallTest, OnACrowdedNodeRanksThatWaitAreNotUrgent) {
  call_.hold_back(true);
  call_.count(Urgency::peers, 1);
  const auto before = std::chrono::steady_clock::now();
  call_.need();
  EXPECT_FALSE(call_.take_need());
  call_parked();
  pollfd timer = call_.timer();
  ASSERT_EQ(::poll(&timer, 1, -1), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::nanoseconds(ProgressPolicy::kLongHoldBack));
  EXPECT_EQ(call_.take(0, timer.revents).value().urgency, Urgency::sends);
  call_.count(Urgency::polls, 1);
  call_parked();
  EXPECT_LE(called_within(), ProgressPolicy::kLateCall) << "what needs polls is as urgent as ever";
}

TEST_F(ThreadCallTest, OneThatHoldsBackIsToldWhetherItsCallerHasComeBack) {
  call_.hold_back(false);
  for (const bool comes_back : {false, true}) {
    call_parked();
    pollfd timer = call_.timer();
    ASSERT_EQ(::poll(&timer, 1, -1), 1);
    if (comes_back) call_.resume_polling();
    EXPECT_EQ(call_.take(0, timer.revents).value().left_alone, !comes_back);
  }
}

TEST_F(ThreadCallTest, OneThatHoldsBackForLongerIsCalledLaterForWhatWaitsForNothing) {
  call_.hold_back(false);
  call_.hold_back_for(3 * ProgressPolicy::kLongHoldBack);
  const auto before = std::chrono::steady_clock::now();
  call_parked();
  pollfd timer = call_.timer();
  ASSERT_EQ(::poll(&timer, 1, -1), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::nanoseconds(3 * ProgressPolicy::kLongHoldBack));
  static_cast<void>(call_.take(0, timer.revents));
  call_.count(Urgency::sends, 1);
  call_parked();
  EXPECT_LE(called_within(), ProgressPolicy::kLongHoldBack);
}

TEST_F(ThreadCallTest, WhatIsMoreUrgentShortensALateCall) {
  call_.hold_back(false);
  call_parked();
  for (const Urgency urgency : {Urgency::peers, Urgency::polls}) {
    call_.count(urgency, 1);
    call_.call();
    EXPECT_LE(called_within(), ProgressPolicy::late_call(urgency));
  }
  call_.count(Urgency::polls, -1);
  pollfd timer = call_.timer();
  ASSERT_EQ(::poll(&timer, 1, -1), 1);
  EXPECT_EQ(call_.take(0, timer.revents).value().urgency, Urgency::polls);
  call_parked();  // the next one as well
  EXPECT_GT(call_.count(Urgency::peers), 0);
  call_.count(Urgency::polls, 1);
  call_.call();
  EXPECT_LE(called_within(), ProgressPolicy::kLateCall);
}

TEST_F(ThreadCallTest, OneThatHoldsBackIsNotNeededForWhatIsNotUrgent) {
  call_.hold_back(false);
  call_.need();
  EXPECT_FALSE(call_.take_need());
  call_.count(Urgency::peers, 1);
  call_.need();
  EXPECT_TRUE(call_.take_need());
}

TEST_F(ThreadCallTest, OneThatHoldsBackIsCalledAtOnceForWhatNeedsPolls) {
  call_.hold_back(false);
  call_.count(Urgency::polls, 2);
  call_.count(Urgency::polls, -1);
  call_parked();
  EXPECT_TRUE(called_at_once());
  EXPECT_TRUE(call_.take(POLLIN, 0).has_value());
  call_.count(Urgency::polls, -1);
  call_parked();
  EXPECT_EQ(call_.state(), ThreadState::timed_sleep);
  EXPECT_FALSE(called_at_once());
}

TEST_F(ThreadCallTest, WhatNeedsPollsIsMissedSooner) {
  EXPECT_TRUE(leaves_for(300'000));
  call_.hold_back(false);
  EXPECT_TRUE(comes_true([&] { return !leaves_for(3'000'000); }));  // unless the test is kept from its processor
  EXPECT_TRUE(leaves_for(30'000'000));
  call_.count(Urgency::peers, 1);
  EXPECT_TRUE(comes_true([&] { return !leaves_for(300'000); }));
  EXPECT_TRUE(leaves_for(3'000'000));
  call_.count(Urgency::polls, 1);
  EXPECT_TRUE(leaves_for(300'000));
}

}  // namespace
}  // namespace fab::test
