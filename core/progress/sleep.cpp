#include "core/progress/sleep.h"

#include <algorithm>
#include <utility>

#include "core/base/events.h"

namespace fab::core {

Sleep::Sleep(const Happenings& happenings, TaskQueue& tasks, ThreadCall& thread, Counters& counters)
    : happenings_(happenings), tasks_(tasks), thread_(thread), counters_(counters), descriptors_{kNoEvent} {}

void Sleep::add(Provider& provider, Intake* intake) {
  if (descriptors_.size() == kMaxDescriptors)
    throw Error(Errc::no_resources, "more providers than the engine has places for descriptors");
  providers_.push_back(&provider);
  if (intake != nullptr) intakes_.push_back(intake);
  if (provider.capabilities().wait_fd)
    descriptors_.push_back({provider.wait_fd(), POLLIN, 0});
  else
    all_have_wait_fd_ = false;
}

bool Sleep::prepare() {
  if (!tasks_.open_wake_up()) return false;
  if (descriptors_.front().fd < 0) descriptors_.front() = tasks_.wake_up();  // others may be asleep on a copy
  if (!tasks_.empty()) return false;
  if (!intakes_.empty()) {
    const bool quiet = quiet_.exchange(false);
    if (std::ranges::any_of(
            intakes_, [quiet](Intake* intake) FAB_REQUIRES(engine_lock) { return intake->look_before_sleep(quiet); }))
      return false;
    back_off_ms_.store(quiet ? std::min(back_off_ms_.load() * kBackOffGrowth, kLongestBackOffMs) : kFirstBackOffMs);
  }
  armed_ = true;
  return providers_tell();
}

bool Sleep::providers_tell() {
  return std::all_of(providers_.begin(), providers_.end(), [](Provider* provider) { return provider->may_sleep(); });
}

// Several threads may sleep here at once, so each has its own copy.
Sleep::End Sleep::sleep(int timeout_ms, int safety_timeout_ms, std::span<pollfd> also) {
  Descriptors descriptors;
  const auto more = std::copy(descriptors_.begin(), descriptors_.end(), descriptors.begin());
  const auto count = static_cast<nfds_t>(std::copy(also.begin(), also.end(), more) - descriptors.begin());
  const int timeout = intakes_.empty() ? timeout_ms : std::min(timeout_ms, back_off_ms_.load());
  const bool timed_out = ::poll(descriptors.data(), count, timeout) == 0;
  quiet_.store(timed_out);
  std::copy_n(more, also.size(), also.begin());
  return !timed_out ? End::told : timeout < safety_timeout_ms ? End::time : End::safety_time;
}

bool Sleep::driver_may_wait(Condition over, std::uint32_t seen_news) {
  sleeps_for_ = over;
  seen_news_ = seen_news;
  return !driver_is_needed();
}

void Sleep::begin_driver() {
  driver_sleeps_ = true;
  driver_called_ = false;
  counters_.count(Counter::caller_sleeps);
  watch_over();
}

std::size_t Sleep::end_driver(End end) {
  const std::size_t missed = driver_called_ ? 0 : look_for_missed(end);
  driver_sleeps_ = false;
  disarm();
  tasks_.woken();
  return missed;
}

bool Sleep::driver_is_needed() const {
  if (happenings_.user_work) return true;
  return happenings_.news != seen_news_ && (!sleeps_for_.is_known() || sleeps_for_.holds());
}

void Sleep::look_before_release() noexcept {
  if (std::exchange(just_armed_, false)) return;
  if (driver_sleeps_) {
    if (driver_called_ || (!driver_is_needed() && providers_tell())) return;
    driver_called_ = true;
    counters_.count(Counter::woken_callers);
    tasks_.wake();
  } else if (thread_.state(std::memory_order_relaxed) == ThreadState::waiting && !providers_tell()) {
    thread_.park();
  }
}

void Sleep::disarm() {
  armed_ = false;
  thread_.park();
  watched_ = false;
  for (Provider* provider : providers_) provider->awake();
}

// Where a provider's descriptor lags, what is found may just have come; unless it would never have told.
std::size_t Sleep::look_for_missed(End end) {
  if (end == End::told) return 0;
  Descriptors descriptors;
  const auto count = std::copy(descriptors_.begin(), descriptors_.end(), descriptors.begin()) - descriptors.begin();
  if (::poll(descriptors.data(), static_cast<nfds_t>(count), 0) != 0) return 0;
  bool missed = driver_sleeps_ && driver_is_needed();
  std::size_t events = 0;
  for (Provider* provider : providers_) {
    const bool tells_at_once = end == End::safety_time && !provider->capabilities().wait_fd_lags;
    const bool would_have_told = tells_at_once || provider->is_disarmed();
    const std::size_t found = provider->poll();
    events += found;
    missed = missed || (found > 0 && would_have_told);
  }
  if (missed) counters_.count(Counter::late_wake_ups);
  return events;
}

}  // namespace fab::core
