// Driving by the progress thread while no caller waits.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/engine.h"

namespace fab::core {

namespace {

constexpr auto kThreadSpin = std::chrono::microseconds(50);

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
        "a provider has no descriptor to sleep on: the progress thread looks again and again, the longer nothing "
        "happens the more seldom; with FAB_PROGRESS=thread it does nothing else");
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

Engine::Turn Engine::thread_turn(Clock::time_point last_news) {
  const Lock lock(mutex);
  const SleepEnd sleep_end = std::exchange(thread_sleep_end_, SleepEnd::told);
  if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting) look_for_missed(sleep_end);
  thread_state_.store(ThreadState::awake, std::memory_order_relaxed);
  if (!thread_wanted()) {
    rest();
    return Turn::unwanted;
  }
  ++thread_turns_;
  if (progress() > 0) return Turn::worked;
  if (all_have_wait_fd_ && may_sleep()) {
    // Who drives before the thread sleeps makes it deaf; then it sleeps on these.
    deaf_fds_ = {thread_fd_, late_call_};
    deaf_ns_ = longest_thread_sleep_ns();
    thread_state_.store(ThreadState::waiting, std::memory_order_relaxed);
    watch_over_sleep();
  } else if (!all_have_wait_fd_ && options_.progress != ProgressMode::thread) {
    // What happens is found late by a small part of the time that it took.
    deaf_fds_ = {thread_fd_, late_call_};
    const std::chrono::nanoseconds quiet = Clock::now() - last_news;
    deaf_ns_ = std::clamp<std::int64_t>(quiet.count() / kPartOfQuiet, kFirstDozeNs, kLongestThreadNapNs);
    thread_state_.store(ThreadState::deaf, std::memory_order_relaxed);
  }
  return Turn::idle;
}

// If it has done everything since it rested the last time, this program leaves its runs to the thread and computes.
void Engine::rest() {
  thread_state_.store(ThreadState::deaf, std::memory_order_relaxed);
  const unsigned turns = turns_ - std::exchange(turns_at_rest_, turns_);
  if (turns > 0) may_call_late_.store(turns == thread_turns_, std::memory_order_relaxed);
  thread_turns_ = 0;
  look_after_held_back(turns == 0 && drivers() == 0);
  if (lookout_ == nullptr) return;
  lookout_->answer();
  if (const int fd = lookout_->idle_fd(); fd >= 0) deaf_fds_.push_back({fd, POLLIN, 0});
}

// Whoever drives polls these providers, too. Only when nobody has for some time the thread does, and from then on it
// sleeps on their descriptors, which tell when the kernel has room again, or looks again after longer and longer times.
void Engine::look_after_held_back(bool left_alone) {
  deaf_fds_ = {thread_fd_, late_call_};
  deaf_ns_ = kForEver;
  left_alone_ns_ =
      left_alone ? std::min(left_alone_ns_ + left_alone_ns_ / kPartOfQuiet, kLongestThreadNapNs) : kLeftAloneNs;
  for (Provider* provider : providers_) {
    if (!provider->capabilities().may_hold_back) continue;
    deaf_ns_ = std::min(deaf_ns_, kThreadSafetyTimeoutNs);
    if (left_alone) provider->poll();
    if (!provider->capabilities().wait_fd)
      deaf_ns_ = std::min(deaf_ns_, left_alone_ns_);
    else if (left_alone && provider->may_sleep())
      deaf_fds_.push_back({provider->wait_fd(), POLLIN, 0});
    else
      deaf_ns_ = std::min(deaf_ns_, kLeftAloneNs);
  }
}

bool Engine::doze(std::int64_t ns) {
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

bool Engine::sleep_until_called() {
  if (thread_state_.load() == ThreadState::deaf) {
    const timespec time{deaf_ns_ / kSecond, deaf_ns_ % kSecond};
    ::ppoll(deaf_fds_.data(), deaf_fds_.size(), deaf_ns_ == kForEver ? nullptr : &time, nullptr);
    thread_fd_.revents = deaf_fds_[0].revents;
    late_call_.revents = deaf_fds_[1].revents;
  } else {
    statistics_.count(Counter::thread_sleeps);
    thread_sleep_end_ =
        sleep(static_cast<int>(longest_thread_sleep_ns() / kMillisecond), kThreadSafetyTimeoutMs, &thread_fd_);
  }
  return take_call();
}

// Whether the callers compute while their requests are in flight, or wait for them at once, shows by what the thread
// got to do between two calls. What happens between calls that follow each other sooner than the thread would look by
// itself says nothing: on a processor that both share the call alone keeps the caller from waiting.
void Engine::thread_main() {
  auto last_event = Clock::now();
  auto last_call = last_event;
  auto last_news = last_event;  // or start
  std::uint32_t seen_calls = 0;
  std::uint32_t seen_absences = 0;
  bool worked = true;
  bool needed = true;
  std::int64_t doze_ns = kFirstDozeNs;
  int dozes = 0;
  while (!stop_.load()) {
    const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
    if (calls != std::exchange(seen_calls, calls)) {
      dozes = 0;
      last_news = Clock::now();
    }
    if (!needed && (dozes == 0 || (drivers() > 0 && dozes < kDozesWhileDriven))) {
      ++dozes;
      const bool called = doze(doze_ns) && needs_thread_.exchange(false, std::memory_order_relaxed);
      doze_ns = called ? kFirstDozeNs : std::min(2 * doze_ns, kLongestDozeNs);
      // Messages have no plan that remembers: a caller that left something alone may do so again.
      const std::uint32_t left_alone = absences();
      needed = std::exchange(seen_absences, left_alone) != left_alone || called;
      continue;
    }
    const Turn turn = thread_turn(last_news);
    if (turn == Turn::worked) {
      worked = true;
      doze_ns = kFirstDozeNs;
      last_event = last_news = Clock::now();
    } else if (turn == Turn::unwanted || thread_state_.load() != ThreadState::awake) {
      const bool spins = turn == Turn::idle && options_.thread_may_spin && Clock::now() - last_event < kThreadSpin;
      if (spins || !sleep_until_called()) continue;
      const auto called = Clock::now();
      needed = std::exchange(worked, false) && called - last_call > std::chrono::nanoseconds(kFirstDozeNs);
      needed = needs_thread_.exchange(false, std::memory_order_relaxed) || needed;
      last_call = called;
    } else if (!all_have_wait_fd_) {
      ::sched_yield();
    }
  }
}

}  // namespace fab::core
