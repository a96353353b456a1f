#include "core/progress/progress_policy.h"

#include <algorithm>

namespace fab::core {

ProgressPolicy::ProgressPolicy(const Ways& ways, Clock clock)
    : ways_(ways), now_(std::move(clock)), last_event_(now_()), last_call_(last_event_), last_news_(last_event_) {}

ProgressPolicy::Time ProgressPolicy::timed_sleep(std::uint32_t calls, bool driven) {
  if (calls != std::exchange(seen_calls_, calls)) {
    timed_sleeps_ = 0;
    last_news_ = now_();
  }
  if (needed_ || (timed_sleeps_ > 0 && (!driven || timed_sleeps_ >= kTimedSleepsWhileDriven))) return 0;
  ++timed_sleeps_;
  return timed_sleep_;
}

// Messages have no plan that remembers: a caller that left something alone may do so again.
void ProgressPolicy::slept(bool needed, std::uint32_t absences) {
  timed_sleep_ = needed ? first_timed_sleep() : std::min(2 * timed_sleep_, kLongestTimedSleep);
  needed_ = std::exchange(seen_absences_, absences) != absences || needed;
}

std::optional<ProgressPolicy::Time> ProgressPolicy::back_off() const {
  if (ways_.descriptors || ways_.only_looks) return std::nullopt;
  return std::clamp((now_() - last_news_) / kPartOfQuiet, kFirstTimedSleep, kLongestBackOff);
}

// If it has done everything since it rested the last time, this program leaves its runs to the thread and computes.
ProgressPolicy::Rest ProgressPolicy::rest(unsigned polls, bool driven) {
  const unsigned turns = polls - std::exchange(polls_at_rest_, polls);
  Rest rest;
  if (turns > 0) rest.may_call_late = turns == own_turns_;
  own_turns_ = 0;
  rest.left_alone = turns == 0 && !driven;
  rest.look_again = look_again(rest.left_alone);
  const bool still_alone = std::exchange(was_left_alone_, rest.left_alone) && rest.left_alone;
  if (ways_.holds_back && !still_alone) rest.listen_in = kLongestAttended;
  return rest;
}

ProgressPolicy::Time ProgressPolicy::look_again(bool left_alone) {
  if (left_alone) {
    attended_ = kLeftAlone;
    looks_late_ = true;
    return look_again_ = std::min(look_again_ + look_again_ / kPartOfQuiet, kLongestBackOff);
  }
  look_again_ = kLeftAlone;
  looks_late_ = !looks_late_;
  return looks_late_ ? attended_ = std::min(2 * attended_, kLongestAttended) : kLeftAlone;
}

ProgressPolicy::Then ProgressPolicy::after(Turn turn, bool falls_asleep) {
  if (turn == Turn::worked) {
    worked_ = true;
    timed_sleep_ = first_timed_sleep();
    last_event_ = last_news_ = now_();
    return Then::again;
  }
  if (turn == Turn::idle && !falls_asleep) return ways_.descriptors ? Then::again : Then::yield;
  const bool spins = turn == Turn::idle && ways_.may_spin && now_() - last_event_ < kSpin;
  return spins ? Then::again : Then::sleep;
}

// Calls for what is not urgent come so seldom that a timed sleep would save none.
void ProgressPolicy::called(Urgency urgency, bool needed, bool left_alone) {
  const Time now = now_();
  const bool worth_it = std::exchange(worked_, false) && now - last_call_ > first_timed_sleep();
  needed_ = worth_it || needed || !is_urgent(urgency);
  if (urgency == Urgency::none) hold_back_ = left_alone ? kLongHoldBack : std::min(2 * hold_back_, kLongestHoldBack);
  last_call_ = now;
}

}  // namespace fab::core
