// The decisions of the progress thread's policy, with a clock that the test turns.
#include "core/progress/progress_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fab::test {
namespace {

using core::ProgressPolicy;
using core::ThreadState;
using core::Urgency;
using Call = ProgressPolicy::Call;
using Then = ProgressPolicy::Then;
using Time = ProgressPolicy::Time;
using Turn = ProgressPolicy::Turn;

constexpr Time kMillisecond = ProgressPolicy::kMillisecond;
constexpr Time kSecond = ProgressPolicy::kSecond;
constexpr Time kMinute = 60 * kSecond;
constexpr Time kDay = 24 * 60 * kMinute;

class PolicyTest : public testing::Test {
 protected:
  ProgressPolicy policy(const ProgressPolicy::Ways& ways = {}) {
    return ProgressPolicy(ways, [this] { return now_; });
  }
  /// One that was called twice and got nothing to do between.
  ProgressPolicy disappointed() {
    ProgressPolicy result = policy();
    for (int i = 0; i < 2; ++i) {
      now_ += kMillisecond;
      result.called(Urgency::polls, false, true);
    }
    return result;
  }

  Time now_ = kSecond;
};

TEST_F(PolicyTest, LooksAtFirst) { EXPECT_EQ(policy().timed_sleep(1, false), 0); }

TEST_F(PolicyTest, LooksAgainWhereACallLedToSomething) {
  ProgressPolicy its = policy();
  EXPECT_EQ(its.after(Turn::worked, false), Then::again);
  now_ += kMillisecond;
  its.called(Urgency::polls, false, true);
  EXPECT_EQ(its.timed_sleep(1, false), 0);
}

TEST_F(PolicyTest, SleepsForATimeWhereACallLedToNothing) {
  ProgressPolicy its = disappointed();
  EXPECT_EQ(its.timed_sleep(1, false), ProgressPolicy::kFirstTimedSleep);
}

TEST_F(PolicyTest, CallsInQuickSuccessionSayNothing) {
  ProgressPolicy its = policy();
  static_cast<void>(its.after(Turn::worked, false));
  now_ += ProgressPolicy::kFirstTimedSleep;
  its.called(Urgency::polls, false, true);
  EXPECT_GT(its.timed_sleep(1, false), 0);
}

TEST_F(PolicyTest, SleepsOnceForACallThatIsNotDrivenAndAFewTimesForOneThatIs) {
  for (const bool driven : {false, true}) {
    ProgressPolicy its = disappointed();
    int sleeps = 0;
    for (; its.timed_sleep(1, driven) > 0; ++sleeps) its.slept(false, 0);
    EXPECT_EQ(sleeps, driven ? ProgressPolicy::kTimedSleepsWhileDriven : 1);
    EXPECT_GT(its.timed_sleep(2, driven), 0) << "the next call";
  }
}

TEST_F(PolicyTest, SleepsLongerAndLongerUntilSomethingHappens) {
  ProgressPolicy its = disappointed();
  Time expected = ProgressPolicy::kFirstTimedSleep;
  for (std::uint32_t calls = 1; calls < 20; ++calls) {
    EXPECT_EQ(its.timed_sleep(calls, false), expected);
    its.slept(false, 0);
    expected = std::min(2 * expected, ProgressPolicy::kLongestTimedSleep);
  }
  static_cast<void>(its.after(Turn::worked, false));
  EXPECT_EQ(its.timed_sleep(20, false), ProgressPolicy::kFirstTimedSleep);
}

TEST_F(PolicyTest, OfAThreadThatHoldsBackSleepsLongerFromTheFirst) {
  ProgressPolicy its = policy({.holds_back = true});
  static_cast<void>(its.after(Turn::worked, false));
  now_ += ProgressPolicy::kHoldBack;
  its.called(Urgency::peers, false, true);
  EXPECT_EQ(its.timed_sleep(1, false), ProgressPolicy::kHoldBack) << "calls in quick succession";
  its.slept(false, 0);
  EXPECT_EQ(its.timed_sleep(2, false), 2 * ProgressPolicy::kHoldBack);
  its.slept(true, 0);
  static_cast<void>(its.after(Turn::worked, false));
  now_ += ProgressPolicy::kHoldBack + 1;
  its.called(Urgency::peers, false, true);
  EXPECT_EQ(its.timed_sleep(3, false), 0);
}

TEST_F(PolicyTest, LooksAtOnceWhereACallForWhatIsNotUrgentLedToNothing) {
  ProgressPolicy its = policy({.holds_back = true});
  for (std::uint32_t calls = 1; calls < 4; ++calls) {
    now_ += ProgressPolicy::kLongHoldBack;
    its.called(Urgency::none, false, true);
    EXPECT_EQ(its.timed_sleep(calls, false), 0);
    EXPECT_EQ(its.after(Turn::unwanted, true), Then::sleep);
  }
}

TEST_F(PolicyTest, ATimedSleepEndsInALookForARunThatNeedsTheThreadAndAfterAnAbsence) {
  ProgressPolicy needed = disappointed();
  ASSERT_GT(needed.timed_sleep(1, false), 0);
  needed.slept(true, 0);
  EXPECT_EQ(needed.timed_sleep(2, false), 0);
  ProgressPolicy left_alone = disappointed();
  ASSERT_GT(left_alone.timed_sleep(1, false), 0);
  left_alone.slept(false, 1);
  EXPECT_EQ(left_alone.timed_sleep(2, false), 0);
  left_alone.slept(false, 1);
  EXPECT_GT(left_alone.timed_sleep(3, false), 0) << "an old absence";
}

TEST_F(PolicyTest, SleepsWhenUnwantedOrIdle) {
  ProgressPolicy its = policy();
  EXPECT_EQ(its.after(Turn::unwanted, true), Then::sleep);
  EXPECT_EQ(its.after(Turn::unwanted, false), Then::sleep) << "a call is found by the sleep";
  EXPECT_EQ(its.after(Turn::idle, true), Then::sleep);
  EXPECT_EQ(its.after(Turn::idle, false), Then::again) << "a provider would not tell";
}

TEST_F(PolicyTest, SpinsForAMomentAfterAnEventWhereItHasAProcessor) {
  ProgressPolicy its = policy({.may_spin = true});
  static_cast<void>(its.after(Turn::worked, false));
  now_ += ProgressPolicy::kSpin - 1;
  EXPECT_EQ(its.after(Turn::idle, true), Then::again);
  EXPECT_EQ(its.after(Turn::unwanted, true), Then::sleep);
  now_ += 1;
  EXPECT_EQ(its.after(Turn::idle, true), Then::sleep);
}

TEST_F(PolicyTest, BacksOffForAPartOfTheTimeWithoutNewsWhereNoDescriptorTells) {
  ProgressPolicy its = policy({.descriptors = false});
  EXPECT_EQ(its.back_off(), ProgressPolicy::kFirstTimedSleep);
  now_ += 160 * kMillisecond;
  EXPECT_EQ(its.back_off(), 10 * kMillisecond);
  now_ += kDay;
  EXPECT_EQ(its.back_off(), ProgressPolicy::kLongestBackOff);
  static_cast<void>(its.timed_sleep(1, false));
  EXPECT_EQ(its.back_off(), ProgressPolicy::kFirstTimedSleep) << "a start";
  now_ += 16 * kMillisecond;
  EXPECT_EQ(its.back_off(), kMillisecond);
  static_cast<void>(its.after(Turn::worked, false));
  EXPECT_EQ(its.back_off(), ProgressPolicy::kFirstTimedSleep) << "an event";
}

TEST_F(PolicyTest, BacksOffNotWhereItHasADescriptorOrOnlyLooks) {
  EXPECT_FALSE(policy().back_off());
  ProgressPolicy its = policy({.descriptors = false, .only_looks = true});
  EXPECT_FALSE(its.back_off());
  EXPECT_EQ(its.after(Turn::idle, false), Then::yield);
}

TEST_F(PolicyTest, MayBeCalledLateWhileItDoesEverything) {
  ProgressPolicy its = policy();
  its.take_turn();
  EXPECT_EQ(its.rest(1, false).may_call_late, true);
  EXPECT_EQ(its.rest(1, false).may_call_late, std::nullopt) << "nothing is learned from nothing";
  its.take_turn();
  EXPECT_EQ(its.rest(3, false).may_call_late, false) << "another thread has polled, too";
}

TEST_F(PolicyTest, LooksAfterWhatIsHeldBackOnceNoOtherThreadHas) {
  ProgressPolicy its = policy();
  const ProgressPolicy::Rest first = its.rest(1, false);
  EXPECT_FALSE(first.left_alone);
  EXPECT_EQ(first.look_again, ProgressPolicy::kLeftAlone);
  EXPECT_FALSE(its.rest(2, false).left_alone);
  EXPECT_FALSE(its.rest(2, true).left_alone) << "a caller drives";
  Time last = ProgressPolicy::kLeftAlone;
  for (int i = 0; i < 100; ++i) {
    const ProgressPolicy::Rest rest = its.rest(2, false);
    EXPECT_TRUE(rest.left_alone);
    EXPECT_EQ(rest.look_again, std::min(last + last / ProgressPolicy::kPartOfQuiet, ProgressPolicy::kLongestBackOff));
    last = rest.look_again;
  }
  EXPECT_EQ(last, ProgressPolicy::kLongestBackOff);
  EXPECT_EQ(its.rest(3, false).look_again, ProgressPolicy::kLeftAlone) << "another thread has polled";
}

// A descriptor would wake it in the middle of the program's next start, whose processor it would take.
TEST_F(PolicyTest, ListensToWhatIsHeldBackOnlyOnceItIsStillLeftAloneIfItHoldsBack) {
  ProgressPolicy its = policy({.holds_back = true});
  unsigned polls = 0;
  for (int round = 0; round < 3; ++round) {
    static_cast<void>(its.rest(++polls, false));
    const ProgressPolicy::Rest first = its.rest(polls, false);
    EXPECT_TRUE(first.left_alone);
    EXPECT_EQ(first.listen_in, ProgressPolicy::kLongestAttended);
    EXPECT_EQ(its.rest(polls, false).listen_in, 0);
    EXPECT_EQ(its.rest(polls, false).listen_in, 0);
  }
  ProgressPolicy with_its_own_processor = policy();
  static_cast<void>(with_its_own_processor.rest(1, false));
  EXPECT_EQ(with_its_own_processor.rest(1, false).listen_in, 0);
}

TEST_F(PolicyTest, LooksEverMoreSeldomAfterWhatIsHeldBackWhileOthersPoll) {
  ProgressPolicy its = policy();
  constexpr Time kLongest = ProgressPolicy::kLongestAttended + ProgressPolicy::kLeftAlone;
  unsigned polls = 0;
  int looks = 0;
  Time before = 0;
  for (Time time = 0; time < kMinute; ++looks) {
    const Time next = its.rest(++polls, false).look_again;
    EXPECT_LE(before + next, kLongest) << "a poll at the beginning of the one, and none in the other";
    time += before = next;
  }
  EXPECT_LE(looks, 2 * kMinute / kLongest + 6);
  EXPECT_TRUE(its.rest(polls, false).left_alone);
  EXPECT_EQ(its.rest(++polls, false).look_again, ProgressPolicy::kLeftAlone) << "it begins anew";
  EXPECT_EQ(its.rest(++polls, false).look_again, 2 * ProgressPolicy::kLeftAlone);
}

TEST(CallsOfTheThread, ComeTheLaterTheLessUrgentTheyAre) {
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::polls), ProgressPolicy::kLateCall);
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::peers), ProgressPolicy::kHoldBack);
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::sends), ProgressPolicy::kLongHoldBack);
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::none), ProgressPolicy::kLongHoldBack);
  constexpr auto kHoldBack = ProgressPolicy::kLongestHoldBack;
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::none, kHoldBack), kHoldBack);
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::sends, kHoldBack), ProgressPolicy::kLongHoldBack);
  EXPECT_EQ(ProgressPolicy::late_call(Urgency::polls, kHoldBack), ProgressPolicy::kLateCall);
}

TEST(CallsOfTheThread, AreNeededByAPlanThatWasLeftAloneOrTookLong) {
  EXPECT_EQ(ProgressPolicy::absence(Urgency::polls), ProgressPolicy::kAbsence);
  for (const Urgency urgency : {Urgency::peers, Urgency::sends, Urgency::none})
    EXPECT_EQ(ProgressPolicy::absence(urgency), ProgressPolicy::late_call(urgency))
        << "as long as the thread holds back";
  EXPECT_LT(ProgressPolicy::kAway, ProgressPolicy::absence(Urgency::none));
  EXPECT_FALSE(ProgressPolicy::needs_thread(0, false));
  EXPECT_TRUE(ProgressPolicy::needs_thread(1, false));
  EXPECT_TRUE(ProgressPolicy::needs_thread(0, true));
  EXPECT_TRUE(ProgressPolicy::is_urgent(Urgency::polls) && ProgressPolicy::is_urgent(Urgency::peers));
  EXPECT_FALSE(ProgressPolicy::is_urgent(Urgency::sends) || ProgressPolicy::is_urgent(Urgency::none));
}

TEST(CallsOfTheThread, AreMadeWhereItWouldNotLook) {
  for (const Urgency urgency : {Urgency::none, Urgency::sends, Urgency::peers, Urgency::polls})
    for (const bool needed : {false, true})
      for (const bool late : {false, true}) {
        const auto call = [&](ThreadState state) { return ProgressPolicy::call(state, needed, urgency, late); };
        EXPECT_EQ(call(ThreadState::awake), Call::none);
        EXPECT_EQ(call(ThreadState::waiting), Call::none);
        EXPECT_EQ(call(ThreadState::timed_sleep), needed ? Call::at_once : Call::none);
        const bool may_be_late = late || urgency != Urgency::polls;
        EXPECT_EQ(call(ThreadState::parked), may_be_late ? Call::late : Call::at_once);
      }
}

}  // namespace
}  // namespace fab::test
