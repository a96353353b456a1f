// Days of programs beside the progress thread's policy: how often it wakes up, and how late it finds what has come.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/progress/progress_policy.h"

namespace fab::test {
namespace {

using core::ProgressPolicy;
using core::ThreadState;
using core::Urgency;
using Call = ProgressPolicy::Call;
using Then = ProgressPolicy::Then;
using Time = ProgressPolicy::Time;
using Turn = ProgressPolicy::Turn;

constexpr Time kMicrosecond = ProgressPolicy::kMicrosecond;
constexpr Time kMillisecond = ProgressPolicy::kMillisecond;
constexpr Time kSecond = ProgressPolicy::kSecond;
constexpr Time kMinute = 60 * kSecond;
constexpr Time kHour = 60 * kMinute;
constexpr Time kDay = 24 * kHour;

/// The thread beside a program that has one exchange in flight at a time, of one plan. Nothing takes time but messages
/// and computations.
class Simulation {
 public:
  /// `urgency`: of each exchange. All are of the highest where the thread does not hold back.
  explicit Simulation(const ProgressPolicy::Ways& ways, Urgency urgency = Urgency::peers)
      : ways_(ways), urgency_(ways.holds_back ? urgency : Urgency::polls), policy_(ways, [this] { return now_; }) {
    run();
  }

  struct Found {
    std::uint64_t by_thread = 0;  ///< messages
    std::uint64_t by_caller = 0;
    std::uint64_t too_late = 0;  ///< of those: they had come while the caller computed
    Time latest = 0;             ///< the thread: longest since a message had come
  };
  [[nodiscard]] const Found& found() const { return found_; }
  [[nodiscard]] std::uint64_t wake_ups() const { return wake_ups_; }
  [[nodiscard]] Time now() const { return now_; }

  void start(Time message_after) {
    active_ = true;
    comes_ = now_ + message_after;
    needs_ = needs_ || (plan_needs_ && ProgressPolicy::is_urgent(urgency_));
    absences_at_start_ = absences_;
    leave();
  }
  void compute(Time time) {
    const Time end = now_ + time;
    while (std::min(wakes_, tells()) <= end) {
      now_ = std::max(now_, std::min(wakes_, tells()));
      wake();
    }
    now_ = end;
  }
  void wait() {
    if (is_away_for(ProgressPolicy::absence(urgency_))) ++absences_;
    const Time left_at = std::exchange(left_at_, -1);
    if (active_) {
      driven_ = true;
      poll();
      ++found_.by_caller;
      if (comes_ <= now_) ++found_.too_late;
      compute(std::max<Time>(comes_ - now_, 0));
      poll();
      active_ = driven_ = false;
    }
    const bool took_long = left_at >= 0 && now_ - left_at > ProgressPolicy::kLongRun;
    plan_needs_ = ProgressPolicy::needs_thread(absences_ - absences_at_start_, took_long);
  }

 private:
  /// When a descriptor ends its sleep.
  [[nodiscard]] Time tells() const {
    return state_ == ThreadState::waiting && active_ ? comes_ : ProgressPolicy::kForEver;
  }
  /// A caller has left and not come back, and that was longer ago.
  [[nodiscard]] bool is_away_for(Time time) const { return left_at_ >= 0 && now_ - left_at_ > time; }
  void poll() {
    ++polls_;
    if (state_ == ThreadState::waiting) state_ = ThreadState::parked;
  }
  void leave() {
    ++calls_;
    if (state_ == ThreadState::awake) return;
    const Call call = ProgressPolicy::call(state_, needs_, urgency_, may_call_late_);
    if (call != Call::none) {
      called_ = true;
      state_ = call == Call::late ? ThreadState::timed_sleep : ThreadState::awake;
      wakes_ = now_ + (call == Call::late ? ProgressPolicy::late_call(urgency_, policy_.hold_back()) : 0);
    }
    left_at_ = now_;
  }
  void wake() {
    ++wake_ups_;
    const bool called = std::exchange(called_, false);
    if (std::exchange(timed_sleeps_, false))
      policy_.slept(called && std::exchange(needs_, false), absences_);
    else if (called)
      policy_.called(urgency_, std::exchange(needs_, false), is_away_for(ProgressPolicy::kAway));
    run();
  }
  /// Until it sleeps.
  void run() {
    do {
      if (const Time sleep = policy_.timed_sleep(calls_, driven_); sleep > 0) {
        timed_sleeps_ = true;
        state_ = ThreadState::timed_sleep;
        wakes_ = now_ + sleep;
        return;
      }
    } while (policy_.after(turn(), state_ != ThreadState::awake) != Then::sleep);
  }
  Turn turn() {
    state_ = ThreadState::awake;
    if (!active_ || driven_) {
      state_ = ThreadState::parked;
      wakes_ = ProgressPolicy::kForEver;
      const ProgressPolicy::Rest rest = policy_.rest(polls_, driven_);
      may_call_late_ = rest.may_call_late.value_or(may_call_late_);
      return Turn::unwanted;
    }
    policy_.take_turn();
    ++polls_;
    if (comes_ <= now_) {
      active_ = false;
      ++found_.by_thread;
      found_.latest = std::max(found_.latest, now_ - comes_);
      return Turn::worked;
    }
    state_ = ways_.descriptors ? ThreadState::waiting : ThreadState::parked;
    wakes_ = now_ + policy_.back_off().value_or(ProgressPolicy::kSafetyTimeout);
    return Turn::idle;
  }

  ProgressPolicy::Ways ways_;
  Urgency urgency_;
  Time now_ = 0;
  ProgressPolicy policy_;
  ThreadState state_ = ThreadState::awake;
  Time wakes_ = ProgressPolicy::kForEver;
  bool timed_sleeps_ = false;
  bool called_ = false;
  bool may_call_late_ = false;
  bool needs_ = false;
  bool plan_needs_ = false;
  bool active_ = false;
  bool driven_ = false;
  Time comes_ = 0;
  Time left_at_ = -1;
  std::uint32_t calls_ = 0;
  std::uint32_t absences_ = 0;
  std::uint32_t absences_at_start_ = 0;
  unsigned polls_ = 0;
  std::uint64_t wake_ups_ = 0;
  Found found_;
};

constexpr ProgressPolicy::Ways kDescriptors{};
constexpr ProgressPolicy::Ways kBacksOff{.descriptors = false};
constexpr ProgressPolicy::Ways kHoldsBack{.holds_back = true};

/// Of a program that computes for 50 ms while each message, of 20 ms, is under way.
void compute_for(Simulation& program, Time time) {
  for (const Time end = program.now() + time; program.now() < end;) {
    program.start(20 * kMillisecond);
    program.compute(50 * kMillisecond);
    program.wait();
  }
}

/// Of one that waits for messages of 20 us at once, and computes for a moment between them.
void wait_for(Simulation& program, Time time, Time between) {
  for (const Time end = program.now() + time; program.now() < end;) {
    program.start(20 * kMicrosecond);
    program.wait();
    program.compute(between);
  }
}

TEST(SimulatedDay, OfAnIdleProgramHasNoWakeUp) {
  Simulation program(kDescriptors);
  program.compute(kDay);
  EXPECT_EQ(program.wake_ups(), 0u);
}

TEST(SimulatedDay, OfAComputingProgramHasEveryMessageFoundWhenItComes) {
  Simulation program(kDescriptors);
  compute_for(program, kDay);
  const auto exchanges = static_cast<std::uint64_t>(kDay / (50 * kMillisecond));
  EXPECT_EQ(program.found().by_thread, exchanges);
  EXPECT_EQ(program.found().latest, 0);
  EXPECT_LE(program.wake_ups(), 2 * exchanges + 1) << "a call, and the message";
}

TEST(SimulatedDay, OfAComputingProgramWithoutDescriptorsFindsMessagesLateByAPartOfTheirTime) {
  Simulation program(kBacksOff);
  compute_for(program, kDay);
  EXPECT_EQ(program.found().by_caller, 0u);
  EXPECT_LE(program.found().latest, 20 * kMillisecond / ProgressPolicy::kPartOfQuiet + kMillisecond);
}

TEST(SimulatedDay, OfAPendingReceiveCostsAWakeUpASecond) {
  Simulation program(kDescriptors);
  program.start(kDay);
  program.compute(kDay - 1);
  EXPECT_LE(program.wake_ups(), static_cast<std::uint64_t>(kDay / ProgressPolicy::kSafetyTimeout) + 2);
}

TEST(SimulatedDay, OfAPendingReceiveWithoutDescriptorsCostsAFew) {
  Simulation program(kBacksOff);
  program.start(kDay);
  program.compute(kDay - 1);
  EXPECT_LE(program.wake_ups(), static_cast<std::uint64_t>(kDay / ProgressPolicy::kLongestBackOff) + 300);
  program.compute(kSecond);
  EXPECT_EQ(program.found().by_thread, 1u);
  EXPECT_LE(program.found().latest, ProgressPolicy::kLongestBackOff);
}

TEST(SimulatedDay, AStartEndsABackOff) {
  Simulation program(kBacksOff);
  for (int i = 0; i < 100; ++i) {
    program.start(10 * kSecond);
    program.compute(9 * kSecond);
    program.compute(2 * kSecond);
    program.wait();
    program.start(kMillisecond);
    program.compute(20 * kMillisecond);
    program.wait();
  }
  EXPECT_EQ(program.found().by_caller, 0u);
}

TEST(SimulatedDay, OfAWaitingProgramHasTheThreadTakeTimedSleeps) {
  Simulation program(kDescriptors);
  wait_for(program, kHour, 80 * kMicrosecond);
  EXPECT_EQ(program.found().by_thread, 0u);
  EXPECT_EQ(program.found().too_late, 0u);
  EXPECT_LE(program.wake_ups(), static_cast<std::uint64_t>(kHour / ProgressPolicy::kLongestTimedSleep) + 100)
      << "and not two for each of 36,000,000 exchanges";
}

/// Of a program that computes for a moment while each message is under way, and for long between them.
void overlap_for(Simulation& program, Time time, Time during, Time between) {
  for (const Time end = program.now() + time; program.now() < end;) {
    program.start(20 * kMicrosecond);
    program.compute(during);
    program.wait();
    program.compute(between);
  }
}

TEST(SimulatedDay, OfAComputingProgramHasAThreadThatHoldsBackFindEveryMessage) {
  Simulation program(kHoldsBack);
  compute_for(program, kDay);
  const auto exchanges = static_cast<std::uint64_t>(kDay / (50 * kMillisecond));
  EXPECT_EQ(program.found().by_thread, exchanges);
  EXPECT_LE(program.found().latest, ProgressPolicy::kHoldBack);
  EXPECT_LE(program.wake_ups(), 2 * exchanges + 1);
}

TEST(SimulatedDay, OfShortComputationsWakesAThreadThatHoldsBackOnceInAMillisecondAtMost) {
  for (const Time during : {50 * kMicrosecond, 150 * kMicrosecond, 300 * kMicrosecond}) {
    Simulation program(kHoldsBack);
    overlap_for(program, kMinute, during, 200 * kMicrosecond);
    EXPECT_LE(program.wake_ups(), static_cast<std::uint64_t>(kMinute / kMillisecond)) << during;
  }
}

std::uint64_t wake_ups_in_a_minute(Urgency urgency, Time during) {
  Simulation program(kHoldsBack, urgency);
  overlap_for(program, kMinute, during, 200 * kMicrosecond);
  return program.wake_ups();
}

TEST(SimulatedDay, OfWhatIsNotUrgentWakesAThreadThatHoldsBackTwiceInTenMillisecondsAtMost) {
  for (const Urgency urgency : {Urgency::none, Urgency::sends})
    for (const Time during : {50 * kMicrosecond, 300 * kMicrosecond, 1200 * kMicrosecond, 6 * kMillisecond})
      EXPECT_LE(wake_ups_in_a_minute(urgency, during),
                static_cast<std::uint64_t>(2 * kMinute / ProgressPolicy::kLongHoldBack) + 2)
          << during;
}

TEST(SimulatedDay, OfWhatWaitsForNothingWakesAThreadThatHoldsBackEverMoreSeldom) {
  for (const Time during : {50 * kMicrosecond, 300 * kMicrosecond, 1200 * kMicrosecond})
    EXPECT_LE(wake_ups_in_a_minute(Urgency::none, during),
              static_cast<std::uint64_t>(2 * kMinute / ProgressPolicy::kLongestHoldBack) + 8)
        << during;
}

TEST(SimulatedDay, OfWhatWaitsForNothingHoldsAThreadBackForLongOnceAtMost) {
  Simulation program(kHoldsBack, Urgency::none);
  for (int turn = 0; turn < 1000; ++turn) {
    overlap_for(program, kSecond, 300 * kMicrosecond, 200 * kMicrosecond);
    const std::uint64_t missed = program.found().too_late;
    compute_for(program, 10 * kSecond);
    EXPECT_LE(program.found().too_late, missed + 1);
  }
  EXPECT_LE(program.found().latest, ProgressPolicy::kLongestHoldBack);
}

TEST(SimulatedDay, OfWhatIsNotUrgentHasAThreadThatHoldsBackFindItOnceTheCallerIsAwayForLong) {
  Simulation program(kHoldsBack, Urgency::none);
  compute_for(program, kDay);
  EXPECT_EQ(program.found().by_caller, 0u);
  EXPECT_LE(program.found().latest, ProgressPolicy::kLongHoldBack);
}

TEST(SimulatedDay, OfAMixedProgramLosesTheOverlapOfOneExchangePerTurn) {
  Simulation program(kDescriptors);
  constexpr int kTurns = 24 * 60;
  for (int turn = 0; turn < kTurns; ++turn) {
    compute_for(program, 30 * kSecond);
    const auto found = program.found();
    wait_for(program, 100 * kMillisecond, 80 * kMicrosecond);
    EXPECT_EQ(program.found().too_late, found.too_late);
    program.compute(30 * kSecond);
  }
  EXPECT_LE(program.found().too_late, static_cast<std::uint64_t>(kTurns));
  EXPECT_LE(program.found().latest, ProgressPolicy::kLongestTimedSleep);
}

}  // namespace
}  // namespace fab::test
