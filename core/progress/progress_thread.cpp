#include "core/progress/progress_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

namespace fab::core {

namespace {

std::int64_t thread_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One sleep of the thread, recorded when it is over.
class RecordedSleep {
 public:
  explicit RecordedSleep(Recorder* recorder) noexcept
      : recorder_(recorder), since_ns_(recorder == nullptr ? 0 : Recorder::now_ns()) {}
  ~RecordedSleep() {
    if (recorder_ != nullptr)
      recorder_->record(
          {.time_ns = Recorder::now_ns(), .word = since_ns_, .details = TraceRecord::pack(TraceEvent::sleep)});
  }
  RecordedSleep(const RecordedSleep&) = delete;
  RecordedSleep& operator=(const RecordedSleep&) = delete;

 private:
  Recorder* recorder_;
  std::uint64_t since_ns_;
};

}  // namespace

void ProgressThread::start(const Options& options) {
  call_.open();
  if (options.holds_back) call_.hold_back(options.crowded);
  // Signals belong to the application's threads.
  sigset_t all;
  sigset_t previous;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  thread_ = std::thread([this, options] { run(options); });
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "fab-progress");
  if (options.cpu >= 0) pin(options.cpu);
}

void ProgressThread::pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  const int error = ::pthread_setaffinity_np(thread_.native_handle(), sizeof(set), &set);
  if (error != 0)
    log_.write(LogLevel::warn, "FAB_PROGRESS_CPU={}: cannot pin the progress thread: {}", cpu, std::strerror(error));
}

void ProgressThread::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true);
  call_.raise();
  thread_.join();
}

bool ProgressThread::timed_sleep(Policy::Time ns) {
  call_.set_state(ThreadState::timed_sleep, std::memory_order_relaxed);
  const timespec time{0, ns};
  pollfd event = call_.event();
  ::ppoll(&event, 1, &time, nullptr);
  return call_.take(event.revents, 0).has_value();  // one that a sleep missed would end every timed sleep at once
}

// One that has been called since its turn sleeps like a parked one, where each way to call it ends the sleep.
std::optional<ThreadCall::Called> ProgressThread::sleep_until_called() {
  if (call_.state() != ThreadState::waiting) return sleep_parked();
  counters_.count(Counter::thread_sleeps);
  const auto limit_ms = static_cast<int>(parked_sleep_.ns / Policy::kMillisecond);
  std::array<pollfd, 2> ways{call_.event(), call_.timer()};
  last_sleep_ = sleep_.sleep(limit_ms, kSafetyTimeoutMs, ways);
  return call_.take(ways[0].revents, ways[1].revents);
}

std::optional<ThreadCall::Called> ProgressThread::sleep_parked() {
  parked_fds_ = {call_.event(), call_.timer()};
  parked_fds_.insert(parked_fds_.end(), parked_sleep_.also.begin(), parked_sleep_.also.end());
  const timespec time{parked_sleep_.ns / Policy::kSecond, parked_sleep_.ns % Policy::kSecond};
  ::ppoll(parked_fds_.data(), parked_fds_.size(), parked_sleep_.ns == Policy::kForEver ? nullptr : &time, nullptr);
  return call_.take(parked_fds_[0].revents, parked_fds_[1].revents);
}

void ProgressThread::run(const Options& options) {
  Policy policy({.descriptors = sleep_.is_possible(),
                 .only_looks = options.only_looks,
                 .may_spin = options.may_spin,
                 .holds_back = options.holds_back},
                thread_clock_ns);
  while (!stop_.load()) {
    if (const Policy::Time ns = policy.timed_sleep(call_.calls(), work_.is_driven()); ns > 0) {
      const RecordedSleep recorded(options.recorder);
      const bool needed = timed_sleep(ns) && call_.take_need();
      policy.slept(needed, call_.absences());
      continue;
    }
    const Policy::Turn turn = work_.take_turn(policy, std::exchange(last_sleep_, Sleep::End::told), parked_sleep_);
    switch (policy.after(turn, call_.state() != ThreadState::awake)) {
      case Policy::Then::again:
        break;
      case Policy::Then::yield:
        ::sched_yield();
        break;
      case Policy::Then::sleep: {
        const RecordedSleep recorded(options.recorder);
        if (const auto call = sleep_until_called()) {
          policy.called(call->urgency, call_.take_need(), call->left_alone);
          call_.hold_back_for(policy.hold_back());
        }
        break;
      }
    }
  }
}

}  // namespace fab::core
