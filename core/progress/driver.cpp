#include "core/progress/driver.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace fab::core {

namespace {

// Before a sleep, where each rank has a processor to itself: polls alone for a few round trips of a fast network, then
// polls between which others may have the processor, up to FAB_POLL_US. A wake-up takes 50 us and more on a virtual
// machine, and ranks that compute alike mostly wait for less than 10 ms. If others would keep the processor, it polls
// alone, and sleeps sooner. Where ranks share processors: SharedWait (50 us there made tests of collectives on 8 ranks
// take four times as long).
constexpr std::int64_t kSpinNs = 50'000;
constexpr std::int64_t kCrowdedNs = 200'000;
// Of a caller that follows, before it sleeps until it is told: a few times what a wake-up takes.
constexpr std::int64_t kFollowNs = 100'000;
constexpr int kLooksOfFollower = 4;   // between two looks at what it waits for
constexpr int kIdleHookPeriodMs = 1;  // another library's progress is called at least this often

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Driver::Driver(Engine& engine, IdleHook idle, Attention attention, Condition over)
    : engine_(engine), idle_(idle), attention_(attention), over_(over) {
  // Under the lock: the thread looks for drivers under the lock before it polls, so from here on every completion is
  // either visible to our first step or ours to find.
  const Lock lock(engine_);
  engine_.add_driver(attention_ == Attention::to_everything);
  leading_ = engine_.take_lead();
}

Driver::~Driver() {
  if (following_) engine_.followers().leave();
  {
    const Lock lock(engine_);
    engine_.remove_driver(attention_ == Attention::to_everything);
    if (leading_) engine_.give_up_lead();
  }
  if (leading_) engine_.followers().notify();
  engine_.hand_over_progress();
}

bool Driver::step() {
  if (!leading_ && !following_ && engine_.is_led()) return false;
  bool happened = false;
  bool user_work = false;
  {
    const Lock lock(engine_);
    if (!leading_) leading_ = engine_.take_lead();
    if (!leading_) return false;
    happened = engine_.progress() > 0;
    seen_news_ = engine_.happenings().news;
    user_work = engine_.happenings().user_work;
  }
  engine_.give_way();
  if (user_work) happened = engine_.do_user_work() || happened;
  if (happened) spun_ = false;
  return happened;
}

// The caller looks at what it waits for once more between the reading of the epoch and the first sleep, so a
// completion in between is not missed.
void Driver::follow(int most_ms) {
  if (!following_) {
    following_ = true;
    engine_.followers().join();
    seen_epoch_ = engine_.followers().epoch();
    return;
  }
  seen_epoch_ = engine_.follow(seen_epoch_, over_, most_ms);
}

// An attentive one takes the lock for each look.
bool Driver::follows_awake() {
  if (following_ || attention_ == Attention::to_everything || !engine_.followers_may_spin()) return false;
  if (since_spin_began(now_ns()) >= kFollowNs) return false;
  for (int looks = 0; looks < kLooksOfFollower; ++looks) look_again_soon();
  return true;
}

std::int64_t Driver::since_spin_began(std::int64_t now) {
  if (!std::exchange(spun_, true)) {
    spin_begin_ns_ = now;
    shared_wait_.begin(now);
  }
  return now - spin_begin_ns_;
}

bool Driver::still_spinning() {
  const std::int64_t now = now_ns();
  static_cast<void>(since_spin_began(now));
  return engine_.caller_may_spin() ? spin_on_own_processor(now) : offer_shared_processor(now);
}

std::int64_t Driver::poll_ns() const { return std::int64_t{1000} * engine_.poll_us(); }

bool Driver::spin_on_own_processor(std::int64_t now) {
  const bool is_crowded = engine_.crowding().is_crowded(now);
  if (now - spin_begin_ns_ >= (is_crowded ? std::min(poll_ns(), kCrowdedNs) : poll_ns())) return false;
  if (is_crowded || now - spin_begin_ns_ < kSpinNs) return true;
  ::sched_yield();
  engine_.crowding().offered(now, now_ns());
  return true;
}

bool Driver::offer_shared_processor(std::int64_t now) {
  if (!shared_wait_.goes_on(now, poll_ns())) return false;
  ::sched_yield();
  return true;
}

void Driver::rest(int most_ms) {
  if (!leading_ && follows_awake()) return;
  if (idle_ != nullptr) idle_();
  if (!leading_) {
    follow(most_ms);
    return;
  }
  if (still_spinning()) return;
  const int timeout_ms = idle_ != nullptr ? kIdleHookPeriodMs : Engine::kSafetyTimeoutMs;
  if (!engine_.sleep(over_, seen_news_, std::min(timeout_ms, most_ms))) ::sched_yield();
}

}  // namespace fab::core
