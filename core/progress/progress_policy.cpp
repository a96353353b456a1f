#include "core/progress/progress_policy.h"

#include <algorithm>

namespace fab::core {

ProgressPolicy::ProgressPolicy(const Ways& ways, Clock clock)
    : ways_(ways), now_(std::move(clock)), last_event_(now_()), last_call_(last_event_), last_news_(last_event_) {}

ProgressPolicy::Time ProgressPolicy::doze(std::uint32_t calls, bool driven) {
  if (calls != std::exchange(seen_calls_, calls)) {
    dozes_ = 0;
    last_news_ = now_();
  }
  if (needed_ || (dozes_ > 0 && (!driven || dozes_ >= kDozesWhileDriven))) return 0;
  ++dozes_;
  return doze_;
}

// Messages have no plan that remembers: a caller that left something alone may do so again.
void ProgressPolicy::dozed(bool needed, std::uint32_t absences) {
  doze_ = needed ? kFirstDoze : std::min(2 * doze_, kLongestDoze);
  needed_ = std::exchange(seen_absences_, absences) != absences || needed;
}

std::optional<ProgressPolicy::Time> ProgressPolicy::nap() const {
  if (ways_.descriptors || ways_.only_looks) return std::nullopt;
  return std::clamp((now_() - last_news_) / kPartOfQuiet, kFirstDoze, kLongestNap);
}

// If it has done everything since it rested the last time, this program leaves its runs to the thread and computes.
ProgressPolicy::Rest ProgressPolicy::rest(unsigned polls, bool driven) {
  const unsigned turns = polls - std::exchange(polls_at_rest_, polls);
  Rest rest;
  if (turns > 0) rest.may_call_late = turns == own_turns_;
  own_turns_ = 0;
  rest.left_alone = turns == 0 && !driven;
  look_again_ = rest.left_alone ? std::min(look_again_ + look_again_ / kPartOfQuiet, kLongestNap) : kLeftAlone;
  rest.look_again = look_again_;
  return rest;
}

ProgressPolicy::Then ProgressPolicy::after(Turn turn, bool falls_asleep) {
  if (turn == Turn::worked) {
    worked_ = true;
    doze_ = kFirstDoze;
    last_event_ = last_news_ = now_();
    return Then::again;
  }
  if (turn == Turn::idle && !falls_asleep) return ways_.descriptors ? Then::again : Then::yield;
  const bool spins = turn == Turn::idle && ways_.may_spin && now_() - last_event_ < kSpin;
  return spins ? Then::again : Then::sleep;
}

void ProgressPolicy::called(bool needed) {
  const Time now = now_();
  needed_ = (std::exchange(worked_, false) && now - last_call_ > kFirstDoze) || needed;
  last_call_ = now;
}

}  // namespace fab::core
