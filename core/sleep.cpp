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

#include "core/engine.h"
#include "core/events.h"
#include "core/inbox.h"

namespace fab::core {

// Many ranks of one process that never sleep would have no descriptors left, so the wake descriptor is made here. It is
// made under the tasks' lock: a task that came before is seen below, and later ones raise it.
bool Engine::may_sleep() {
  if (look_out() > 0) {
    ++news_;
    if (attentive_ > 0) notify_followers();
    return false;
  }
  {
    const Lock lock(tasks_mutex_);
    if (!open_event(descriptors_.front())) return false;
  }
  if (has_tasks_.load(std::memory_order_acquire)) return false;
  if (!inboxes_.empty()) {
    const bool quiet = quiet_.exchange(false);
    if (std::ranges::any_of(inboxes_, [quiet](Inbox* inbox) { return inbox->look_before_sleep(quiet); })) return false;
    nap_ms_.store(quiet ? std::min(nap_ms_.load() * kNapGrowth, kLongestNapMs) : kFirstNapMs);
  }
  armed_ = true;
  return providers_tell();
}

bool Engine::providers_tell() {
  return std::all_of(providers_.begin(), providers_.end(), [](Provider* provider) { return provider->may_sleep(); });
}

// Several threads may sleep here at once, so each has its own copy. A wake-up is only a hint: the caller polls
// everything again whatever poll() said. A message that blocks its connection wakes nobody, so where there are inboxes
// sleeps grow from short ones, and all but the first come after a look.
Engine::SleepEnd Engine::sleep(int timeout_ms, int safety_timeout_ms, pollfd* also) {
  Descriptors descriptors;
  auto end = std::copy(descriptors_.begin(), descriptors_.end(), descriptors.begin());
  if (also != nullptr) *end++ = *also;
  const auto count = static_cast<nfds_t>(end - descriptors.begin());
  const int timeout = inboxes_.empty() ? timeout_ms : std::min(timeout_ms, nap_ms_.load());
  const bool timed_out = ::poll(descriptors.data(), count, timeout) == 0;
  quiet_.store(timed_out);
  if (also != nullptr) also->revents = descriptors[count - 1].revents;
  return !timed_out ? SleepEnd::told : timeout < safety_timeout_ms ? SleepEnd::time : SleepEnd::safety_time;
}

bool Engine::begin_sleep(Condition over, std::uint32_t seen_news) {
  const Lock lock(mutex);
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
  const Lock lock(mutex);
  if (!driver_called_) look_for_missed(end);
  driver_sleeps_ = false;
  disarm();
  const Lock tasks_lock(tasks_mutex_);
  if (tasks_.empty()) drain_wake_fd();
}

void Engine::watch_over_sleep() noexcept {
  just_armed_ = true;
  mutex.set_last_look(this);
}

bool Engine::driver_is_needed() {
  if (!parked_.empty()) return true;
  return news_ != seen_news_ && (!sleeps_for_.is_known() || sleeps_for_.holds());
}

void Engine::before_release() noexcept {
  mutex.assert_held();
  if (std::exchange(just_armed_, false)) return;
  if (driver_sleeps_) {
    if (driver_called_ || (!driver_is_needed() && providers_tell())) return;
    driver_called_ = true;
    statistics_.count(Counter::woken_callers);
    const Lock lock(tasks_mutex_);
    wake();
  } else if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting && !providers_tell()) {
    thread_state_.store(ThreadState::deaf, std::memory_order_release);
  }
}

void Engine::disarm() {
  armed_ = false;
  if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting)
    thread_state_.store(ThreadState::deaf, std::memory_order_release);
  mutex.set_last_look(nullptr);
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
  if (attentive_ > 0) notify_followers();
  if (missed) statistics_.count(Counter::late_wake_ups);
}

void Engine::wake() noexcept {
  if (descriptors_.front().fd < 0 || std::exchange(raised_, true)) return;
  raise(descriptors_.front());
}

void Engine::drain_wake_fd() noexcept {
  if (!std::exchange(raised_, false)) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = ::read(descriptors_.front().fd, &count, sizeof(count));
}

std::uint64_t Engine::follow_epoch() {
  const std::lock_guard lock(follow_mutex_);
  return follow_epoch_;
}

// What ends does so, and is told, in one hold of the engine's lock.
std::uint64_t Engine::wait_for_epoch_after(std::uint64_t seen, const Condition& over, int most_ms) {
  {
    std::unique_lock lock(follow_mutex_);
    const auto limit = std::chrono::milliseconds(std::min(kSafetyTimeoutMs, most_ms));
    if (follow_.wait_for(lock, limit, [&] { return follow_epoch_ != seen; })) return follow_epoch_;
  }
  const Lock lock(mutex);
  const std::uint64_t epoch = follow_epoch();
  if (epoch == seen && over.is_known() && over.holds()) statistics_.count(Counter::late_wake_ups);
  return epoch;
}

void Engine::notify_followers() noexcept {
  if (followers_.load() == 0) return;
  {
    const std::lock_guard lock(follow_mutex_);
    ++follow_epoch_;
  }
  follow_.notify_all();
  if (const int fd = completion_fd_.load(std::memory_order_relaxed); fd >= 0) raise({fd, POLLIN, 0});
}

void Engine::clear_completions() noexcept {
  std::uint64_t count = 0;
  if (const int fd = completion_fd_.load(std::memory_order_relaxed); fd >= 0) [[maybe_unused]]
    const auto bytes = ::read(fd, &count, sizeof(count));
}

int Engine::completion_fd() {
  if (const int fd = completion_fd_.load(); fd >= 0) return fd;
  pollfd event = kNoEvent;
  if (!open_event(event)) throw Error(Errc::no_resources, std::string("eventfd: ") + std::strerror(errno));
  completion_fd_.store(event.fd);
  followers_.fetch_add(1);
  return event.fd;
}

}  // namespace fab::core
