#include "core/engine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/events.h"
#include "core/inbox.h"
#include "core/run.h"

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
  close_event(descriptors_.front());
  close_event(thread_fd_);
  close_event(late_call_);
  close_event({completion_fd_.load(), POLLIN, 0});
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

void Engine::add(Provider& provider, Inbox* inbox) {
  providers_.push_back(&provider);
  if (inbox != nullptr) inboxes_.push_back(inbox);
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
  if (!refused_.empty() || !refused_sends_.empty()) events += retry_refused();
  if (has_tasks_.load(std::memory_order_acquire)) events += run_tasks();
  if (!deferred_.empty()) events += begin_deferred();
  for (Inbox* inbox : inboxes_) inbox->polled(events == 0);
  if (turns_ % kTurnsPerLook == 0) events += look_out();
  if (events > 0) {
    ++news_;
    if (attentive_ > 0) notify_followers();
  }
  return events;
}

void Engine::yield() {
  mutex.unlock();
  ::sched_yield();
  mutex.lock();
}

void Engine::open_events() {
  const Lock lock(tasks_mutex_);
  if (!open_event(descriptors_.front()) || !open_event(thread_fd_))
    throw Error(Errc::no_resources, std::string("eventfd: ") + std::strerror(errno));
  late_call_.fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (late_call_.fd < 0) throw Error(Errc::no_resources, std::string("timerfd_create: ") + std::strerror(errno));
}

void Engine::poll_once() {
  bool parked;
  {
    const Lock lock(mutex);
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
  notify_followers();
}

// A send that is repeated asks for this before anything else does, or was accepted: then it may be another by now.
void Engine::retry_later(Post& send, RefusedPosts& to_peer) {
  if (std::exchange(repeated_, nullptr) == &send)
    to_peer.push_front(send);
  else
    to_peer.push_back(send);
  if (!std::exchange(to_peer.listed, true)) refused_sends_.push_back(&to_peer);
  may_call_late_.store(false, std::memory_order_relaxed);
}

void Engine::forget(Post& post) noexcept {
  if (post.refused_in != nullptr) post.refused_in->erase(post);
}

void Engine::forget(Run& run) noexcept {
  std::erase(deferred_, &run);
  std::erase(parked_, &run);
}

void Engine::park(Run& run) {
  parked_.push_back(&run);
  notify_followers();
}

bool Engine::run_parked() {
  Run* run = nullptr;
  bool has_work = false;
  {
    const Lock lock(mutex);
    if (parked_.empty()) return false;
    run = parked_.front();
    parked_.erase(parked_.begin());
    has_work = run->unpark();
  }
  if (has_work) run->do_parked_operations();
  const Lock lock(mutex);
  run->local_operations_done();
  return true;
}

// Each post that was refused when the pass began is tried once, but of the sends to one peer only as many as it takes.
std::size_t Engine::retry_refused() {
  std::size_t accepted = 0;
  for (std::size_t tries = refused_.size(); tries > 0 && !refused_.empty(); --tries) {
    Post& post = refused_.pop_front();
    if (post.attempt(post)) ++accepted;
  }
  for (std::size_t i = 0; i < refused_sends_.size();) {
    RefusedPosts& to_peer = *refused_sends_[i];
    accepted += retry_sends(to_peer);
    if (!to_peer.empty()) {
      ++i;
      continue;
    }
    to_peer.listed = false;
    refused_sends_[i] = refused_sends_.back();
    refused_sends_.pop_back();
  }
  return accepted;
}

std::size_t Engine::retry_sends(RefusedPosts& to_peer) {
  std::size_t accepted = 0;
  for (bool takes = true; takes && !to_peer.empty();) {
    Post& send = to_peer.pop_front();
    repeated_ = &send;
    takes = send.attempt(send);
    repeated_ = nullptr;
    if (takes) ++accepted;
  }
  return accepted;
}

void Engine::enqueue(std::function<void()> task) {
  const Lock lock(tasks_mutex_);
  tasks_.push_back(std::move(task));
  has_tasks_.store(true, std::memory_order_release);
  wake();
}

// A driver that sleeps has to see the wake descriptor itself.
std::size_t Engine::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const Lock lock(tasks_mutex_);
    tasks.swap(tasks_);
    has_tasks_.store(false, std::memory_order_release);
    if (!driver_sleeps_) drain_wake_fd();
  }
  for (const auto& task : tasks) task();
  return tasks.size();
}

std::size_t Engine::begin_deferred() {
  std::vector<Run*> ready;
  const auto is_ready = [](Run* run) { return run->may_begin(); };
  std::copy_if(deferred_.begin(), deferred_.end(), std::back_inserter(ready), is_ready);
  std::erase_if(deferred_, is_ready);
  for (Run* run : ready) run->begin();
  return ready.size();
}

}  // namespace fab::core
