#include "core/progress/thread_call.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/events.h"
#include "fab/error.h"

namespace fab::core {

ThreadCall::ThreadCall() : event_(kNoEvent), timer_(kNoEvent) {}

ThreadCall::~ThreadCall() {
  close_event(event_);
  close_event(timer_);
}

void ThreadCall::open() {
  if (!open_event(event_)) throw Error(Errc::no_resources, std::string("eventfd: ") + std::strerror(errno));
  timer_.fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer_.fd < 0) throw Error(Errc::no_resources, std::string("timerfd_create: ") + std::strerror(errno));
}

void ThreadCall::raise() noexcept { core::raise(event_); }

void ThreadCall::wake() noexcept {
  count();
  ThreadState state = state_.load(std::memory_order_acquire);
  const bool needed = needed_.load(std::memory_order_relaxed);
  const bool holds_back = holds_back_ && polls_needed() == 0;
  absence_ticks_.store(holds_back ? kLongAbsenceTicks : kAbsenceTicks, std::memory_order_relaxed);
  const bool may_call_late = holds_back || may_call_late_.load(std::memory_order_relaxed);
  const ProgressPolicy::Call call = ProgressPolicy::call(state, needed, may_call_late);
  if (call == ProgressPolicy::Call::none) {
    if (!holds_back) shorten();
    return;
  }
  const bool late = call == ProgressPolicy::Call::late;
  if (!state_.compare_exchange_strong(state, late ? ThreadState::timed_sleep : ThreadState::awake)) return;
  if (!late) return raise();
  is_held_back_.store(holds_back, std::memory_order_relaxed);
  call_in(holds_back ? ProgressPolicy::kHoldBack : ProgressPolicy::kLateCall);
  if (holds_back && polls_needed() > 0) shorten();  // another caller may have come in between
}

void ThreadCall::shorten() noexcept {
  if (is_held_back_.exchange(false, std::memory_order_relaxed)) call_in(ProgressPolicy::kLateCall);
}

void ThreadCall::call_in(ProgressPolicy::Time ns) noexcept {
  const itimerspec soon{{0, 0}, {0, ns}};
  if (::timerfd_settime(timer_.fd, 0, &soon, nullptr) != 0) raise();
}

bool ThreadCall::take(short event_revents, short timer_revents) {
  const auto reset = [](const pollfd& way, short revents) {
    if ((revents & POLLIN) == 0) return false;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto bytes = ::read(way.fd, &count, sizeof(count));
    return true;
  };
  is_held_back_.store(false, std::memory_order_relaxed);
  const bool called = reset(event_, event_revents);
  return reset(timer_, timer_revents) || called;
}

}  // namespace fab::core
