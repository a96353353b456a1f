#include "core/progress/engine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/events.h"

namespace fab::core {

Engine::Engine(const Options& options, const Log& log, Statistics& statistics)
    : options_(options),
      log_(log),
      statistics_(statistics),
      descriptors_{kNoEvent},
      thread_fd_(kNoEvent),
      late_call_(kNoEvent) {}

Engine::~Engine() {
  stop_thread();
  close_event(thread_fd_);
  close_event(late_call_);
}

void Engine::stop_thread() {
  if (!thread_.joinable()) return;
  stop_.store(true);
  raise(thread_fd_);
  thread_.join();
}

void Engine::lookout_changed() noexcept {
  if (thread_.joinable()) raise(thread_fd_);
}

void Engine::add(Provider& provider, Intake* intake) {
  providers_.push_back(&provider);
  if (intake != nullptr) intakes_.push_back(intake);
  if (descriptors_.size() == kMaxDescriptors)
    throw Error(Errc::no_resources, "more providers than the engine has places for descriptors");
  if (provider.capabilities().wait_fd)
    descriptors_.push_back({provider.wait_fd(), POLLIN, 0});
  else
    all_have_wait_fd_ = false;
}

std::size_t Engine::progress() {
  if (halted_) return 0;
  std::size_t events = 0;
  may_call_late_.store(false, std::memory_order_relaxed);
  if (armed_ && !driver_sleeps_) disarm();
  // A provider that only serves peers is polled now and then, so that it does not slow the others down.
  const bool poll_all = ++turns_ % kTurnsPerIdlePoll == 0 || providers_.size() == 1;
  for (Provider* provider : providers_)
    if (poll_all || provider->busy()) events += provider->poll();
  if (!backlog_.empty()) events += backlog_.retry();
  if (!tasks_.empty()) events += run_tasks();
  if (!deferred_.empty()) events += begin_deferred();
  for (Intake* intake : intakes_) intake->polled(events == 0);
  if (turns_ % kTurnsPerLook == 0) events += look_out();
  if (events > 0) {
    ++news_;
    if (attentive_ > 0) followers_.notify();
  }
  return events;
}

void Engine::yield() {
  unlock();
  ::sched_yield();
  lock();
}

void Engine::open_events() {
  if (!tasks_.open_wake_up() || !open_event(thread_fd_))
    throw Error(Errc::no_resources, std::string("eventfd: ") + std::strerror(errno));
  late_call_.fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (late_call_.fd < 0) throw Error(Errc::no_resources, std::string("timerfd_create: ") + std::strerror(errno));
}

void Engine::poll_once() {
  bool parked;
  {
    const Lock lock(*this);
    progress();
    parked = !parked_.empty();
  }
  while (parked) parked = run_parked();
  leave();
}

// The processor may be the caller's, which the thread takes from it at once: that time is none of the caller's.
void Engine::call_thread() noexcept {
  if (thread_state_.load(std::memory_order_relaxed) == ThreadState::awake) return count_call();
  wake_thread();
  left_at_.store(ticks(), std::memory_order_relaxed);
}

void Engine::wake_thread() noexcept {
  count_call();
  ThreadState state = thread_state_.load(std::memory_order_acquire);
  const bool needed = needs_thread_.load(std::memory_order_relaxed);
  const Policy::Call call = Policy::call(state, needed, may_call_late_.load(std::memory_order_relaxed));
  if (call == Policy::Call::none) return;
  const bool late = call == Policy::Call::late;
  if (!thread_state_.compare_exchange_strong(state, late ? ThreadState::dozing : ThreadState::awake)) return;
  const itimerspec soon{{0, 0}, {0, Policy::kLateCall}};
  if (!late || ::timerfd_settime(late_call_.fd, 0, &soon, nullptr) != 0) raise(thread_fd_);
}

void Engine::deactivated() noexcept {
  active_.store(active() - 1, std::memory_order_release);
  ended();
}

void Engine::ended() noexcept {
  ++news_;
  followers_.notify();
}

void Engine::forget(Task& task) noexcept {
  std::erase(deferred_, &task);
  std::erase(parked_, &task);
}

void Engine::park(Task& task) {
  parked_.push_back(&task);
  followers_.notify();
}

bool Engine::run_parked() {
  Task* task = nullptr;
  bool has_work = false;
  {
    const Lock lock(*this);
    if (parked_.empty()) return false;
    task = parked_.front();
    parked_.erase(parked_.begin());
    has_work = task->unpark();
  }
  if (has_work) task->do_parked_operations();
  const Lock lock(*this);
  task->local_operations_done();
  return true;
}

std::size_t Engine::run_tasks() {
  const std::vector<TaskQueue::Task> tasks = tasks_.take(driver_sleeps_);
  for (const auto& task : tasks) task();
  return tasks.size();
}

std::size_t Engine::begin_deferred() {
  std::vector<Task*> ready;
  const auto is_ready = [](Task* task) FAB_REQUIRES(engine_lock) { return task->may_begin(); };
  std::copy_if(deferred_.begin(), deferred_.end(), std::back_inserter(ready), is_ready);
  std::erase_if(deferred_, is_ready);
  for (Task* task : ready) task->begin();
  return ready.size();
}

}  // namespace fab::core
