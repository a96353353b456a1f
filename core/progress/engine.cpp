#include "core/progress/engine.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fab::core {

Engine::Engine(const Options& options, const Log& log, Counters& counters)
    : options_(options),
      mutex_(options.spinning_threads),
      log_(log),
      counters_(counters),
      sleep_(happenings_, tasks_, call_, counters),
      thread_(*this, call_, sleep_, counters, log_) {}

Engine::~Engine() { stop_thread(); }

void Engine::start_thread() {
  if (options_.progress == ProgressMode::caller) return;
  if (options_.progress == ProgressMode::automatic && !sleep_.is_possible())
    log_.write(
        LogLevel::info,
        "a provider has no descriptor to sleep on: the progress thread looks again and again, the longer nothing "
        "happens the more seldom; with FAB_PROGRESS=thread it does nothing else");
  if (!tasks_.open_wake_up()) throw Error(Errc::no_resources, std::string("eventfd: ") + std::strerror(errno));
  thread_.start({.only_looks = options_.progress == ProgressMode::thread,
                 .may_spin = options_.thread_may_spin,
                 .holds_back = options_.progress == ProgressMode::automatic && sleep_.is_possible() &&
                               !options_.thread_may_spin && options_.progress_cpu < 0,
                 .crowded = !options_.caller_may_spin,
                 .cpu = options_.progress_cpu,
                 .recorder = recorder_});
}

void Engine::stop_thread() { thread_.stop(); }

void Engine::lookout_changed() noexcept {
  if (thread_.runs()) call_.raise();
}

void Engine::add(Provider& provider, Intake* intake) {
  sleep_.add(provider, intake);
  providers_.push_back(&provider);
  if (std::atomic<bool>* const caller_waits = provider.caller_waits()) caller_waits_ = caller_waits;
  if (intake != nullptr) intakes_.push_back(intake);
}

std::size_t Engine::progress() {
  if (halted_) return 0;
  std::size_t events = 0;
  call_.allow_late_calls(false);
  sleep_.before_poll();
  // A provider that only serves peers is polled now and then, so that it does not slow the others down.
  const bool poll_all = ++turns_ % kTurnsPerIdlePoll == 0 || providers_.size() == 1;
  for (Provider* provider : providers_)
    if (poll_all || provider->busy()) events += provider->poll();
  if (!backlog_.empty()) events += backlog_.retry();
  if (refused_posts_counted_ && backlog_.empty()) {
    refused_posts_counted_ = false;
    call_.count(Urgency::peers, -1);
  }
  if (!tasks_.empty()) events += run_tasks();
  if (!deferred_.empty()) events += begin_deferred();
  for (Intake* intake : intakes_) intake->polled(events == 0);
  if (turns_ % kTurnsPerLook == 0) events += look_out();
  if (events > 0) happened();
  return events;
}

void Engine::yield() {
  if (first_yield_ == kNever) first_yield_ = std::chrono::steady_clock::now();
  unlock();
  ::sched_yield();
  lock();
}

void Engine::poll_once() {
  bool user_work;
  {
    const Lock lock(*this);
    progress();
    user_work = happenings_.user_work;
  }
  while (user_work) user_work = do_user_work();
  hand_over_progress();
}

void Engine::deactivated() noexcept {
  active_.store(active() - 1, std::memory_order_release);
  ended();
}

void Engine::ended() noexcept {
  ++happenings_.news;
  followers_.notify();
}

// A program that sleeps on it waits for the thread.
int Engine::completion_fd() {
  const int fd = followers_.descriptor();
  if (!std::exchange(completions_told_, true)) call_.count(Urgency::polls, 1);
  return fd;
}

void Engine::share_completions(int fd) {
  followers_.share_descriptor(fd);
  if (!std::exchange(completions_told_, true)) call_.count(Urgency::polls, 1);
}

void Engine::forget(Task& task) noexcept {
  std::erase(deferred_, &task);
  std::erase(user_work_, &task);
  happenings_.user_work = !user_work_.empty();
}

void Engine::add_user_work(Task& task) {
  user_work_.push_back(&task);
  happenings_.user_work = true;
  followers_.notify();
}

bool Engine::do_user_work() {
  Task* task = nullptr;
  bool has_work = false;
  {
    const Lock lock(*this);
    if (user_work_.empty()) return false;
    task = user_work_.front();
    user_work_.erase(user_work_.begin());
    happenings_.user_work = !user_work_.empty();
    has_work = task->begin_user_work();
  }
  if (has_work) task->do_user_work();
  const Lock lock(*this);
  task->local_operations_done();
  return true;
}

std::size_t Engine::run_tasks() {
  const std::vector<TaskQueue::Task> tasks = tasks_.take(sleep_.driver_sleeps());
  for (const auto& task : tasks) task();
  return tasks.size();
}

std::size_t Engine::begin_deferred() {
  std::vector<Task*> ready;
  ready.swap(beginning_);
  const auto is_ready = [](Task* task) FAB_REQUIRES(engine_lock) { return task->may_begin(); };
  std::copy_if(deferred_.begin(), deferred_.end(), std::back_inserter(ready), is_ready);
  std::erase_if(deferred_, is_ready);
  for (Task* task : ready) task->begin();
  const std::size_t begun = ready.size();
  ready.clear();
  ready.swap(beginning_);  // its memory serves again
  return begun;
}

void Engine::happened() noexcept {
  ++happenings_.news;
  if (attentive_ > 0) followers_.notify();
}

void Engine::add_driver(bool attentive) noexcept {
  count_driver(1);
  if (attentive) ++attentive_;
}

void Engine::remove_driver(bool attentive) noexcept {
  count_driver(-1);
  if (attentive) --attentive_;
}

bool Engine::may_sleep() {
  if (look_out() == 0) return sleep_.prepare();
  happened();
  return false;
}

bool Engine::sleep(const Condition& over, std::uint32_t seen_news, int most_ms) {
  if (!sleep_.is_possible()) return false;
  {
    const Lock lock(*this);
    if (!sleep_.driver_may_wait(over, seen_news) || !may_sleep()) return false;
    sleep_.begin_driver();
  }
  const Sleep::End end = sleep_.sleep(most_ms, kSafetyTimeoutMs);
  const Lock lock(*this);
  if (sleep_.end_driver(end) > 0) happened();
  return true;
}

// What ends does so, and is told, in one hold of the engine's lock.
Followers::Epoch Engine::follow(Followers::Epoch seen, const Condition& over, int most_ms) {
  const Followers::Epoch notified =
      followers_.wait(seen, std::chrono::milliseconds(std::min(kSafetyTimeoutMs, most_ms)));
  if (notified != seen) return notified;
  const Lock lock(*this);
  const Followers::Epoch epoch = followers_.epoch();
  if (epoch == seen && over.is_known() && over.holds()) counters_.count(Counter::late_wake_ups);
  return epoch;
}

}  // namespace fab::core
