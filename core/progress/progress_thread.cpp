// Progress by the progress thread while no caller waits.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/progress/engine.h"

namespace fab::core {

namespace {

std::int64_t thread_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pin(std::thread& thread, int cpu, const Log& log) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  const int error = ::pthread_setaffinity_np(thread.native_handle(), sizeof(set), &set);
  if (error != 0)
    log.write(LogLevel::warn, "FAB_PROGRESS_CPU={}: cannot pin the progress thread: {}", cpu, std::strerror(error));
}

}  // namespace

void Engine::start_thread() {
  if (options_.progress == ProgressMode::caller) return;
  if (options_.progress == ProgressMode::automatic && !all_have_wait_fd_)
    log_.write(
        LogLevel::info,
        "a provider has no descriptor to sleep on: the progress thread polls, less often the longer nothing happens; "
        "with FAB_PROGRESS=thread it polls without a pause");
  open_events();
  // Signals belong to the application's threads.
  sigset_t all;
  sigset_t previous;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  thread_ = std::thread([this] { thread_main(); });
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "fab-progress");
  if (options_.progress_cpu >= 0) pin(thread_, options_.progress_cpu, log_);
}

Engine::Policy::Turn Engine::thread_turn(Policy& policy) {
  const Lock lock(*this);
  const SleepEnd sleep_end = std::exchange(thread_sleep_end_, SleepEnd::told);
  if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting) look_for_missed(sleep_end);
  thread_state_.store(ThreadState::awake, std::memory_order_relaxed);
  if (!thread_wanted()) {
    thread_state_.store(ThreadState::deaf, std::memory_order_relaxed);
    const Policy::Rest rest = policy.rest(turns_, drivers() > 0);
    if (rest.may_call_late) may_call_late_.store(*rest.may_call_late, std::memory_order_relaxed);
    look_after_held_back(rest);
    look_out_while_idle();
    return Policy::Turn::unwanted;
  }
  policy.take_turn();
  if (progress() > 0) return Policy::Turn::worked;
  if (all_have_wait_fd_ && may_sleep()) {
    become_deaf(longest_thread_sleep());  // where somebody drives before the thread sleeps
    thread_state_.store(ThreadState::waiting, std::memory_order_relaxed);
    watch_over_sleep();
  } else if (const std::optional<Policy::Time> nap = policy.nap()) {
    become_deaf(*nap);
    thread_state_.store(ThreadState::deaf, std::memory_order_relaxed);
  }
  return Policy::Turn::idle;
}

void Engine::become_deaf(Policy::Time ns) {
  deaf_fds_ = {thread_fd_, late_call_};
  deaf_ns_ = ns;
}

// Whoever drives polls these providers, too. Only when nobody has for some time the thread does, and from then on it
// sleeps on their descriptors, which tell when the kernel has room again, or looks again after longer and longer times.
void Engine::look_after_held_back(const Policy::Rest& rest) {
  become_deaf(Policy::kForEver);
  for (Provider* provider : providers_) {
    if (!provider->capabilities().may_hold_back) continue;
    deaf_ns_ = std::min(deaf_ns_, Policy::kSafetyTimeout);
    if (rest.left_alone) provider->poll();
    if (!provider->capabilities().wait_fd)
      deaf_ns_ = std::min(deaf_ns_, rest.look_again);
    else if (rest.left_alone && provider->may_sleep())
      deaf_fds_.push_back({provider->wait_fd(), POLLIN, 0});
    else
      deaf_ns_ = std::min(deaf_ns_, Policy::kLeftAlone);
  }
}

void Engine::look_out_while_idle() {
  if (lookout_ == nullptr) return;
  lookout_->answer();
  if (const int fd = lookout_->idle_fd(); fd >= 0) deaf_fds_.push_back({fd, POLLIN, 0});
}

bool Engine::doze(Policy::Time ns) {
  thread_state_.store(ThreadState::dozing, std::memory_order_relaxed);
  const timespec time{0, ns};
  ::ppoll(&thread_fd_, 1, &time, nullptr);
  return take_call();  // one that a sleep missed would end every doze at once
}

bool Engine::take_call() {
  bool called = false;
  for (pollfd* way : {&thread_fd_, &late_call_}) {
    if ((std::exchange(way->revents, 0) & POLLIN) == 0) continue;
    called = true;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto bytes = ::read(way->fd, &count, sizeof(count));
  }
  return called;
}

// One that has been called since its turn sleeps like a deaf one, where each way to call it ends the sleep.
bool Engine::sleep_until_called() {
  if (thread_state_.load() == ThreadState::waiting) {
    statistics_.count(Counter::thread_sleeps);
    const auto limit_ms = static_cast<int>(deaf_ns_ / Policy::kMillisecond);
    thread_sleep_end_ = sleep(limit_ms, kThreadSafetyTimeoutMs, &thread_fd_);
  } else {
    const timespec time{deaf_ns_ / Policy::kSecond, deaf_ns_ % Policy::kSecond};
    ::ppoll(deaf_fds_.data(), deaf_fds_.size(), deaf_ns_ == Policy::kForEver ? nullptr : &time, nullptr);
    thread_fd_.revents = deaf_fds_[0].revents;
    late_call_.revents = deaf_fds_[1].revents;
  }
  return take_call();
}

void Engine::thread_main() {
  const bool only_looks = options_.progress == ProgressMode::thread;
  Policy policy({.descriptors = all_have_wait_fd_, .only_looks = only_looks, .may_spin = options_.thread_may_spin},
                thread_clock_ns);
  while (!stop_.load()) {
    const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
    if (const Policy::Time ns = policy.doze(calls, drivers() > 0); ns > 0) {
      const bool needed = doze(ns) && take_need();
      policy.dozed(needed, absences());
      continue;
    }
    const Policy::Turn turn = thread_turn(policy);
    switch (policy.after(turn, thread_state_.load() != ThreadState::awake)) {
      case Policy::Then::again:
        break;
      case Policy::Then::yield:
        ::sched_yield();
        break;
      case Policy::Then::sleep:
        if (sleep_until_called()) policy.called(take_need());
        break;
    }
  }
}

}  // namespace fab::core
