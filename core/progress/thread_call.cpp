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
  const Urgency urgent = urgency();
  absence_ticks_.store(ticks_in(ProgressPolicy::absence(urgent)), std::memory_order_relaxed);
  const ProgressPolicy::Call call =
      ProgressPolicy::call(state, needed, urgent, may_call_late_.load(std::memory_order_relaxed));
  if (call == ProgressPolicy::Call::none) return shorten(urgent);
  const bool late = call == ProgressPolicy::Call::late;
  if (!state_.compare_exchange_strong(state, late ? ThreadState::timed_sleep : ThreadState::awake)) return;
  if (!late) return raise();
  late_call_.store(urgent, std::memory_order_relaxed);
  call_in(late_call(urgent));
  shorten(urgency());  // another caller may have come in between
}

void ThreadCall::shorten(Urgency urgent) noexcept {
  Urgency before = late_call_.load(std::memory_order_relaxed);
  if (before >= urgent) return;
  if (late_call_.compare_exchange_strong(before, urgent, std::memory_order_relaxed)) call_in(late_call(urgent));
}

void ThreadCall::call_in(ProgressPolicy::Time ns) noexcept {
  const itimerspec soon{{0, 0}, {0, ns}};
  if (::timerfd_settime(timer_.fd, 0, &soon, nullptr) != 0) raise();
}

std::optional<ThreadCall::Called> ThreadCall::take(short event_revents, short timer_revents) {
  const auto reset = [](const pollfd& way, short revents) {
    if ((revents & POLLIN) == 0) return false;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto bytes = ::read(way.fd, &count, sizeof(count));
    return true;
  };
  const Urgency late_call = late_call_.exchange(Urgency::polls, std::memory_order_relaxed);
  const bool called = reset(event_, event_revents);
  const bool called_late = reset(timer_, timer_revents);
  if (called) return Called{};
  if (!called_late) return std::nullopt;
  const std::uint64_t left_at = left_at_.load(std::memory_order_relaxed);
  return Called{.urgency = late_call,
                .left_alone = left_at != 0 && ticks() - left_at > ticks_in(ProgressPolicy::kAway)};
}

}  // namespace fab::core
