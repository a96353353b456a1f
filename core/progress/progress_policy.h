// The policy of the progress thread: decides what it does next, without a lock, a system call or a clock of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "core/progress/urgency.h"

namespace fab::core {

/// What the progress thread is at. It changes to the sleeps under the engine's lock, so a caller that changes what the
/// thread looks at, under the lock, and then looks at this, does not miss one that missed the change.
enum class ThreadState : std::uint8_t {
  awake,
  timed_sleep,  ///< will look by itself, soon; is called only for runs that are known to need it
  waiting,      ///< in poll() on the providers' descriptors, which tell of everything since their last poll
  parked        ///< must be called
};

/// Whether the callers compute while their requests are in flight, or wait for them at once, shows by what the thread
/// got to do between two calls. What happens between calls that follow each other sooner than the thread would look by
/// itself says nothing: on a processor that both share the call alone keeps the caller from waiting.
class ProgressPolicy {
 public:
  using Time = std::int64_t;  ///< ns
  using Clock = std::function<Time()>;

  static constexpr Time kMicrosecond = 1000;
  static constexpr Time kMillisecond = 1000 * kMicrosecond;
  static constexpr Time kSecond = 1000 * kMillisecond;
  static constexpr Time kForEver = std::numeric_limits<Time>::max();
  /// Against lost wake-ups.
  static constexpr Time kSafetyTimeout = kSecond;
  // While callers wait for themselves.
  static constexpr Time kFirstTimedSleep = kMillisecond / 20;
  static constexpr Time kLongestTimedSleep = 4 * kMillisecond;  ///< each costs the caller beside it some 20 us
  static constexpr int kTimedSleepsWhileDriven =
      4;  ///< that long an exchange may take, and the next start is still cheap
  /// A call of a thread to which everything is left: on a processor that both share it would take that from the caller
  /// in the middle of the call that starts a run.
  static constexpr Time kLateCall = kMillisecond / 20;
  /// Of a thread that holds back these three: its callers get to the end of what they start without it, unless they
  /// compute long. The longer one is for what is not urgent: each call takes 50 to 100 us from a caller that keeps its
  /// processor busy, and gives nothing in return.
  static constexpr Time kHoldBack = kMillisecond;
  static constexpr Time kLongHoldBack = 10 * kMillisecond;
  /// For what waits for nothing, it grows up to this as long as callers are found to come back soon by themselves.
  static constexpr Time kLongestHoldBack = 80 * kMillisecond;
  // What is held back: it looks after that once no other thread has polled for some time. While they are found to poll,
  // it looks ever more seldom, since each look costs what a call does; and soon after each late look, as the callers
  // that have polled before that one may have left.
  static constexpr Time kLeftAlone = 10 * kMillisecond;
  static constexpr Time kLongestAttended = 80 * kMillisecond;
  static constexpr Time kSpin = 50 * kMicrosecond;  ///< after an event
  // Absences: how long a caller is away that has left something in flight.
  static constexpr Time kAbsence = 100 * kMicrosecond;  ///< from what needs polls: short messages do as much alone
  static constexpr Time kLongRun = kMillisecond;        ///< beside that a call of the thread is cheap
  static constexpr Time kAway = kLongHoldBack / 2;      ///< half of the longest absence(), as clocks may be inexact
  // Back-off where there is no descriptor to sleep on.
  static constexpr Time kPartOfQuiet = 16;  ///< of the time for which nothing has happened
  static constexpr Time kLongestBackOff = 250 * kMillisecond;

  struct Ways {
    bool descriptors = true;  ///< every provider has one to sleep on
    bool only_looks = false;  ///< where one has none, the thread does nothing else
    bool may_spin = false;    ///< it has a processor to itself
    bool holds_back = false;  ///< it takes its time from ranks of the node, most of whose messages come without it
  };
  ProgressPolicy(const Ways& ways, Clock clock);

  /// How long to sleep now; 0: take a turn. `calls` have come so far, of which some may be lost; `driven`: a caller
  /// waits.
  [[nodiscard]] Time timed_sleep(std::uint32_t calls, bool driven);
  /// The first of several.
  [[nodiscard]] Time first_timed_sleep() const noexcept { return ways_.holds_back ? kHoldBack : kFirstTimedSleep; }
  /// `needed`: it was called for a run that needs the thread. `absences`: how often callers have left runs alone so
  /// far.
  void slept(bool needed, std::uint32_t absences);

  // During a turn.
  /// Active runs are looked at.
  void take_turn() noexcept { ++own_turns_; }
  /// Nothing happened, and there is no descriptor to sleep on: how long to sleep until the next look, if at all. What
  /// happens is found late by a small part of the time that it took.
  [[nodiscard]] std::optional<Time> back_off() const;
  /// No run needs the thread, which is parked.
  struct Rest {
    std::optional<bool> may_call_late;  ///< from now on; none: as before
    bool left_alone = false;            ///< no other thread has polled since the last rest, nor does
    Time look_again = kLeftAlone;       ///< after providers that hold messages back and do not tell
    Time listen_in = 0;                 ///< left alone: it sleeps on the descriptors of those that do; 0: now
  };
  /// `polls`: those of all threads so far.
  [[nodiscard]] Rest rest(unsigned polls, bool driven);

  enum class Turn : std::uint8_t { worked, idle, unwanted };
  enum class Then : std::uint8_t { again, yield, sleep };
  /// `falls_asleep`: the turn has made it waiting or parked, and no caller has called it since.
  [[nodiscard]] Then after(Turn turn, bool falls_asleep);
  /// A call has ended a sleep. `needed`: as in slept(). `left_alone`: its caller has not come back for long.
  void called(Urgency urgency, bool needed, bool left_alone);
  /// In how long a call for what waits for nothing comes.
  [[nodiscard]] Time hold_back() const noexcept { return hold_back_; }

  // Rules for callers, which ThreadCall, runs and waits apply.

  /// How urgent it is to a thread that holds back that other ranks may wait. On a node with more callers than
  /// processors, ranks that wait leave theirs to ranks that compute, and a call would take time from these.
  [[nodiscard]] static constexpr Urgency for_peers(bool crowded) noexcept {
    return crowded ? Urgency::sends : Urgency::peers;
  }

  /// Worth a call that ends a timed sleep of the thread.
  [[nodiscard]] static constexpr bool is_urgent(Urgency urgency) noexcept { return urgency > Urgency::sends; }

  /// In how long a late call comes; at least, for what waits for nothing.
  [[nodiscard]] static constexpr Time late_call(Urgency urgency) noexcept {
    if (urgency == Urgency::polls) return kLateCall;
    return urgency == Urgency::peers ? kHoldBack : kLongHoldBack;
  }
  /// late_call() of a thread with that hold_back().
  [[nodiscard]] static constexpr Time late_call(Urgency urgency, Time hold_back) noexcept {
    return urgency == Urgency::none ? hold_back : late_call(urgency);
  }

  /// A caller that is away for longer has left its runs alone. For a thread that holds back that is as long as it does
  /// so.
  [[nodiscard]] static constexpr Time absence(Urgency urgency) noexcept {
    return urgency == Urgency::polls ? kAbsence : late_call(urgency);
  }
  /// The next start of a plan calls the thread. `absences`: those since the last start. `took_long`: that took longer
  /// than kLongRun, from its caller's leaving to its end.
  [[nodiscard]] static constexpr bool needs_thread(std::uint32_t absences, bool took_long) noexcept {
    return absences != 0 || took_long;
  }

  /// What a caller does that goes its way and leaves runs in flight. `urgency`: of the most urgent. `may_call_late`: by
  /// the last Rest.
  enum class Call : std::uint8_t { none, at_once, late };
  [[nodiscard]] static constexpr Call call(ThreadState state, bool needed, Urgency urgency,
                                           bool may_call_late) noexcept {
    if (state == ThreadState::timed_sleep && needed) return Call::at_once;
    if (state != ThreadState::parked) return Call::none;
    return urgency != Urgency::polls || may_call_late ? Call::late : Call::at_once;
  }

 private:
  [[nodiscard]] Time look_again(bool left_alone);

  Ways ways_;
  Clock now_;
  Time last_event_;
  Time last_call_;
  Time last_news_;  ///< an event or a start
  std::uint32_t seen_calls_ = 0;
  std::uint32_t seen_absences_ = 0;
  bool worked_ = true;
  bool needed_ = true;
  Time timed_sleep_ = first_timed_sleep();
  int timed_sleeps_ = 0;
  unsigned polls_at_rest_ = 0;
  unsigned own_turns_ = 0;        ///< since then
  Time look_again_ = kLeftAlone;  ///< while left alone
  Time attended_ = kLeftAlone;    ///< the longest between two looks so far, while not
  bool looks_late_ = true;        ///< the last look that found a poll was to come late
  bool was_left_alone_ = false;   ///< at the last rest
  Time hold_back_ = kLongHoldBack;
};

}  // namespace fab::core
