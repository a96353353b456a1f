#include "core/engine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/inbox.h"
#include "core/run.h"

namespace fab::core {

namespace {

constexpr pollfd kNoEvent{-1, POLLIN, 0};

bool open_event(pollfd& event) noexcept {
  if (event.fd < 0) event.fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return event.fd >= 0;
}

void close_event(const pollfd& event) noexcept {
  if (event.fd >= 0) ::close(event.fd);
}

void raise(const pollfd& event) noexcept {
  const std::uint64_t one = 1;
  // Only a full counter can refuse the write, and then the descriptor is readable already.
  [[maybe_unused]] const auto written = ::write(event.fd, &one, sizeof(one));
}

}  // namespace

Engine::Engine(const Options& options, const Log& log)
    : options_(options), log_(log), descriptors_{kNoEvent}, thread_fd_(kNoEvent), late_call_(kNoEvent) {}

Engine::~Engine() {
  stop_thread();
  close_event(descriptors_.front());
  close_event(thread_fd_);
  close_event(late_call_);
}

void Engine::stop_thread() {
  if (!thread_.joinable()) return;
  stop_.store(true);
  raise(thread_fd_);
  thread_.join();
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
  std::size_t events = 0;
  may_call_late_.store(false, std::memory_order_relaxed);
  // From here on the descriptors need not tell the thread of everything.
  if (thread_state_.load(std::memory_order_relaxed) == ThreadState::waiting)
    thread_state_.store(ThreadState::deaf, std::memory_order_release);
  // A provider that only serves peers is polled now and then, so that it does not slow the others down.
  const bool poll_all = ++turns_ % kTurnsPerIdlePoll == 0 || providers_.size() == 1;
  for (Provider* provider : providers_)
    if (poll_all || provider->busy()) events += provider->poll();
  if (!refused_.empty() || !refused_sends_.empty()) events += retry_refused();
  if (has_tasks_.load(std::memory_order_acquire)) events += run_tasks();
  if (!deferred_.empty()) events += begin_deferred();
  for (Inbox* inbox : inboxes_) inbox->polled(events == 0);
  if (attentive_ > 0 && events > 0) notify_followers();
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
  if (state != ThreadState::deaf && !(state == ThreadState::dozing && needed)) return;
  // A thread that went to sleep on something else than the timer is not called late.
  const bool late = state == ThreadState::deaf && may_call_late_.load(std::memory_order_relaxed);
  if (!thread_state_.compare_exchange_strong(state, late ? ThreadState::dozing : ThreadState::awake)) return;
  const itimerspec soon{{0, 0}, {0, kLateCallNs}};
  if (!late || ::timerfd_settime(late_call_.fd, 0, &soon, nullptr) != 0) raise(thread_fd_);
}

void Engine::deactivated() noexcept {
  active_.store(active() - 1, std::memory_order_release);
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

// A task of nothing wakes a caller that sleeps while another one starts a run.
void Engine::park(Run& run) {
  parked_.push_back(&run);
  if (driver_sleeps_) enqueue([] {});
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

// The wake descriptor is raised and drained under the tasks' lock, so it is readable exactly while there are tasks.
std::size_t Engine::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const Lock lock(tasks_mutex_);
    tasks.swap(tasks_);
    has_tasks_.store(false, std::memory_order_release);
    drain_wake_fd();
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

// Many ranks of one process that never sleep would have no descriptors left, so the wake descriptor is made here. It is
// made under the tasks' lock: a task that came before is seen below, and later ones raise it.
bool Engine::may_sleep() {
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
  return std::all_of(providers_.begin(), providers_.end(), [](Provider* provider) { return provider->may_sleep(); });
}

// Several threads may sleep here at once, so each has its own copy. A wake-up is only a hint: the caller polls
// everything again whatever poll() said. A message that blocks its connection wakes nobody, so where there are inboxes
// sleeps grow from short ones, and all but the first come after a look.
void Engine::sleep(int timeout_ms, pollfd* also) {
  std::array<pollfd, kMaxDescriptors + 1> descriptors;
  auto end = std::copy(descriptors_.begin(), descriptors_.end(), descriptors.begin());
  if (also != nullptr) *end++ = *also;
  const auto count = static_cast<nfds_t>(end - descriptors.begin());
  const int timeout = inboxes_.empty() ? timeout_ms : std::min(timeout_ms, nap_ms_.load());
  quiet_.store(::poll(descriptors.data(), count, timeout) == 0);
  if (also != nullptr) also->revents = descriptors[count - 1].revents;
}

void Engine::wake() noexcept {
  if (descriptors_.front().fd >= 0) raise(descriptors_.front());
}

void Engine::drain_wake_fd() noexcept {
  if (descriptors_.front().fd < 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = ::read(descriptors_.front().fd, &count, sizeof(count));
}

std::uint64_t Engine::follow_epoch() {
  const std::lock_guard lock(follow_mutex_);
  return follow_epoch_;
}

std::uint64_t Engine::wait_for_epoch_after(std::uint64_t seen) {
  std::unique_lock lock(follow_mutex_);
  follow_.wait_for(lock, std::chrono::milliseconds(kSafetyTimeoutMs), [&] { return follow_epoch_ != seen; });
  return follow_epoch_;
}

void Engine::notify_followers() noexcept {
  if (followers_.load() == 0) return;
  {
    const std::lock_guard lock(follow_mutex_);
    ++follow_epoch_;
  }
  follow_.notify_all();
}

}  // namespace fab::core
