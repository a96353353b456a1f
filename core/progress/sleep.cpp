// Sleeping on the providers' descriptors, and waking whoever does.
//
// A driver that sleeps says what it waits for, and has seen all news (Engine::news_) until then. Others may post and
// poll meanwhile. Before one of them releases the lock, the sleeper must have been called or need not be: nothing that
// it waits for has ended, and every provider still tells of all that comes. So nobody but the sleeper silences what
// would wake it: providers by awake(), the wake descriptor by draining it. A thread that sleeps there while nobody
// drives is called when whoever polls or posts goes its way (Engine::leave()), for who stays polls for it.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/events.h"
#include "core/progress/engine.h"

namespace fab::core {

bool Engine::may_sleep() {
  if (look_out() > 0) {
    ++news_;
    if (attentive_ > 0) followers_.notify();
    return false;
  }
  if (!tasks_.open_wake_up()) return false;
  if (descriptors_.front().fd < 0) descriptors_.front() = tasks_.wake_up();  // others may be asleep on a copy
  if (!tasks_.empty()) return false;
  if (!intakes_.empty()) {
    const bool quiet = quiet_.exchange(false);
    if (std::ranges::any_of(
            intakes_, [quiet](Intake* intake) FAB_REQUIRES(engine_lock) { return intake->look_before_sleep(quiet); }))
      return false;
    nap_ms_.store(quiet ? std::min(nap_ms_.load() * kNapGrowth, kLongestNapMs) : kFirstNapMs);
  }
  armed_ = true;
  return providers_tell();
}

bool Engine::providers_tell() {
  return std::all_of(providers_.begin(), providers_.end(), [](Provider* provider) { return provider->may_sleep(); });
}

// Several threads may sleep here at once, so each has its own copy. A wake-up is only a hint: the caller polls
// everything again whatever poll() said. A message that blocks its connection wakes nobody, so where there are intakes
// sleeps grow from short ones, and all but the first come after a look.
Engine::SleepEnd Engine::sleep(int timeout_ms, int safety_timeout_ms, pollfd* also) {
  Descriptors descriptors;
  auto end = std::copy(descriptors_.begin(), descriptors_.end(), descriptors.begin());
  if (also != nullptr) *end++ = *also;
  const auto count = static_cast<nfds_t>(end - descriptors.begin());
  const int timeout = intakes_.empty() ? timeout_ms : std::min(timeout_ms, nap_ms_.load());
  const bool timed_out = ::poll(descriptors.data(), count, timeout) == 0;
  quiet_.store(timed_out);
  if (also != nullptr) also->revents = descriptors[count - 1].revents;
  return !timed_out ? SleepEnd::told : timeout < safety_timeout_ms ? SleepEnd::time : SleepEnd::safety_time;
}

bool Engine::begin_sleep(Condition over, std::uint32_t seen_news) {
  const Lock lock(*this);
  sleeps_for_ = over;
  seen_news_ = seen_news;
  if (driver_is_needed() || !may_sleep()) return false;
  driver_sleeps_ = true;
  driver_called_ = false;
  statistics_.count(Counter::caller_sleeps);
  watch_over_sleep();
  return true;
}

void Engine::end_sleep(SleepEnd end) {
  const Lock lock(*this);
  if (!driver_called_) look_for_missed(end);
  driver_sleeps_ = false;
  disarm();
  tasks_.woken();
}

void Engine::watch_over_sleep() noexcept {
  just_armed_ = true;
  has_last_look_ = true;
}

bool Engine::driver_is_needed() {
  if (!parked_.empty()) return true;
  return news_ != seen_news_ && (!sleeps_for_.is_known() || sleeps_for_.holds());
}

void Engine::before_release() noexcept {
  if (std::exchange(just_armed_, false)) return;
  if (driver_sleeps_) {
    if (driver_called_ || (!driver_is_needed() && providers_tell())) return;
    driver_called_ = true;
    statistics_.count(Counter::woken_callers);
    tasks_.wake();
  } else if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting && !providers_tell()) {
    thread_state_.store(ThreadState::deaf, std::memory_order_release);
  }
}

void Engine::disarm() {
  armed_ = false;
  if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting)
    thread_state_.store(ThreadState::deaf, std::memory_order_release);
  has_last_look_ = false;
  for (Provider* provider : providers_) provider->awake();
}

// Where a provider's descriptor lags, what is found may just have come; unless it would never have told.
void Engine::look_for_missed(SleepEnd end) {
  if (end == SleepEnd::told) return;
  Descriptors descriptors;
  const auto count = std::copy(descriptors_.begin(), descriptors_.end(), descriptors.begin()) - descriptors.begin();
  if (::poll(descriptors.data(), static_cast<nfds_t>(count), 0) != 0) return;
  bool missed = driver_sleeps_ && driver_is_needed();
  for (Provider* provider : providers_) {
    const bool tells_at_once = end == SleepEnd::safety_time && !provider->capabilities().wait_fd_lags;
    const bool would_have_told = tells_at_once || provider->is_deaf();
    if (provider->poll() == 0) continue;
    ++news_;
    missed = missed || would_have_told;
  }
  if (attentive_ > 0) followers_.notify();
  if (missed) statistics_.count(Counter::late_wake_ups);
}

// What ends does so, and is told, in one hold of the engine's lock.
Followers::Epoch Engine::wait_for_epoch_after(Followers::Epoch seen, const Condition& over, int most_ms) {
  const Followers::Epoch notified =
      followers_.wait(seen, std::chrono::milliseconds(std::min(kSafetyTimeoutMs, most_ms)));
  if (notified != seen) return notified;
  const Lock lock(*this);
  const Followers::Epoch epoch = followers_.epoch();
  if (epoch == seen && over.is_known() && over.holds()) statistics_.count(Counter::late_wake_ups);
  return epoch;
}

}  // namespace fab::core
