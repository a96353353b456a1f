// Driving by the progress thread while no caller waits.
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <cstring>

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
  if (options_.progress == ProgressMode::automatic && !all_have_wait_fd_) {
    log_.write(
        LogLevel::info,
        "no progress thread: a provider has no descriptor to sleep on; FAB_PROGRESS=thread makes one that polls");
    return;
  }
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

void Engine::unpark() noexcept {
  if (!thread_wanted() || !parked_.exchange(false)) return;
  ticket_.fetch_add(1);
  ticket_.notify_one();
}

// parked_ is raised before the last look at thread_wanted(), and unpark() lowers it after active_ or drivers_ changed.
// Whichever exchange comes second sees what was written before the first, so one of the two sees the other's.
void Engine::park() {
  const std::uint32_t seen = ticket_.load();
  parked_.exchange(true);
  if (!thread_wanted() && !stop_.load()) ticket_.wait(seen);
  parked_.store(false);
}

bool Engine::thread_turn() {
  const Lock lock(mutex);
  if (!thread_wanted()) return false;
  return progress() == 0 && all_have_wait_fd_ && may_sleep();
}

void Engine::thread_main() {
  auto last_event = std::chrono::steady_clock::now();
  while (!stop_.load()) {
    if (!thread_wanted()) {
      park();
      last_event = std::chrono::steady_clock::now();
      continue;
    }
    const bool idle = thread_turn();
    if (!idle) {
      if (!all_have_wait_fd_) ::sched_yield();
      last_event = std::chrono::steady_clock::now();
    } else if (!options_.thread_may_spin || std::chrono::steady_clock::now() - last_event > kThreadSpin) {
      sleep(kThreadSafetyTimeoutMs);
    }
  }
}

}  // namespace fab::core
