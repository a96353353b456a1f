// The progress engine: polls the providers, repeats refused posts, and decides who does so and when to sleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/condition.h"
#include "core/base/config.h"
#include "core/base/counters.h"
#include "core/base/engine_lock.h"
#include "core/base/linked.h"
#include "core/base/log.h"
#include "core/progress/backlog.h"
#include "core/progress/crowding.h"
#include "core/progress/engine_mutex.h"
#include "core/progress/followers.h"
#include "core/progress/pending.h"
#include "core/progress/progress_policy.h"
#include "core/progress/progress_thread.h"
#include "core/progress/sleep.h"
#include "core/progress/task.h"
#include "core/progress/task_queue.h"
#include "core/progress/thread_call.h"
#include "core/provider.h"
#include "core/trace/recorder.h"

namespace fab::core {

/// Looks after the peers of what is in flight. Guarded by the engine's lock.
class Lookout {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Called now and then while something is in flight. Returns how many things it has ended.
  virtual std::size_t look(Time now) FAB_REQUIRES(engine_lock) = 0;
  /// Becomes readable when answer() has something to do; -1: nothing. Watched while nothing is in flight.
  [[nodiscard]] virtual int idle_fd() const noexcept FAB_REQUIRES(engine_lock) = 0;
  virtual void answer() FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~Lookout() = default;
};

/// One per context. Its lock guards the providers and everything that plans, runs, peers and communicators of the
/// context change after construction: code that calls into those holds it.
///
/// A thread that waits drives the engine (a Driver). While none waits and runs are active, the progress thread drives
/// it. Otherwise the thread sleeps, and a program that only makes blocking calls never meets it. A request that no
/// thread waits for wakes it, unless it has learned that this program waits for its requests soon: then it takes timed
/// sleeps, and only looks after runs that are left alone for longer than that; or that all runs are left to the thread:
/// then a timer wakes it a little later. Where a provider has no descriptor to sleep on, it looks again and again while
/// runs are active, the more seldom the longer nothing happens. Some providers hold back messages that they have called
/// sent (libfabric's TCP, where the kernel's buffers are full): once no thread has polled them for a while, the thread
/// does.
///
/// One caller that waits, or the thread, may sleep on the providers' descriptors (Sleep). The thread that holds the
/// lock meanwhile leaves it with the sleeper called, or with descriptors that still tell of all that comes.
class Engine : private ThreadWork {
 public:
  struct Options {
    ProgressMode progress = ProgressMode::automatic;
    int progress_cpu = -1;         ///< processor of the progress thread; -1: any
    int poll_us = 10'000;          ///< of a caller that may spin, before it sleeps
    bool caller_may_spin = false;  ///< every rank of the node has a processor to itself
    bool thread_may_spin = false;  ///< and there is one more for the thread
    int spinning_threads = 1;      ///< of a rank's have processors to themselves
  };

  Engine(const Options& options, const Log& log, Counters& counters);
  /// Stops the thread. Nothing may be in flight.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Adds a provider, and its intake if it needs one, which must outlive the engine's use. Before start_thread.
  void add(Provider& provider, Intake* intake = nullptr);
  /// Starts the progress thread unless the options forbid one.
  void start_thread();
  /// Without effect where there is none. What is in flight then goes on only while a caller waits.
  void stop_thread();
  [[nodiscard]] bool has_thread() const noexcept { return thread_.runs(); }
  [[nodiscard]] ThreadState thread_state() const noexcept { return call_.state(); }
  /// The caller is the progress thread.
  [[nodiscard]] bool is_own_thread() const noexcept { return thread_.is_caller(); }
  /// After how long it looks by itself, while it is waiting or parked.
  [[nodiscard]] ProgressPolicy::Time thread_sleep_limit() const noexcept FAB_REQUIRES(engine_lock) {
    return thread_.sleep_limit();
  }
  /// For Lock, and for fork(), over which the lock is held.
  void lock() FAB_ACQUIRE(engine_lock) FAB_NO_ANALYSIS { mutex_.lock(); }
  void unlock() FAB_RELEASE(engine_lock) FAB_NO_ANALYSIS {
    sleep_.before_release();
    mutex_.unlock();
  }
  /// In a child of fork(), where there is no thread and what the providers are connected to is the parent's: they are
  /// left alone from now on.
  void halt() noexcept FAB_REQUIRES(engine_lock) {
    halted_ = true;
    caller_waits_ = nullptr;
    sleep_.halt();
  }
  [[nodiscard]] bool halted() const noexcept { return halted_; }

  /// Null: nothing is recorded. Before anything is made that starts.
  void set_recorder(Recorder* recorder) noexcept { recorder_ = recorder; }
  [[nodiscard]] Recorder* recorder() const noexcept { return recorder_; }
  /// Null: no function looks. While there is no thread.
  void set_lookout(Lookout* lookout) noexcept { lookout_ = lookout; }
  [[nodiscard]] bool has_lookout() const noexcept { return lookout_ != nullptr; }
  /// Its idle_fd() has changed.
  void lookout_changed() noexcept;
  /// Polls everything once; returns how many things happened.
  std::size_t progress() FAB_REQUIRES(engine_lock);

  /// A run became active. Call hand_over_progress() once the lock is released if the caller will not wait.
  void activated() noexcept FAB_REQUIRES(engine_lock) { active_.store(active() + 1, std::memory_order_release); }
  void deactivated() noexcept FAB_REQUIRES(engine_lock);
  /// Something that callers wait for has ended.
  void ended() noexcept FAB_REQUIRES(engine_lock);
  /// An operation became active that a caller may wait for.
  void activated(Pending& pending) noexcept FAB_REQUIRES(engine_lock) {
    pending.quiet_since = {};
    pending.number = ++activations_;
    count_urgent(pending, 1);
    active_list_.push_back(pending);
    activated();
  }
  /// As turns out while it is active.
  void raise_urgency(Pending& pending, Urgency urgency) noexcept FAB_REQUIRES(engine_lock) {
    count_urgent(pending, -1);
    pending.urgency = std::max(pending.urgency, urgency);
    count_urgent(pending, 1);
  }
  void deactivated(Pending& pending) noexcept FAB_REQUIRES(engine_lock) {
    pending.leave();
    count_urgent(pending, -1);
    deactivated();
  }
  /// Calls `look` with each of them, also where it ends some, or all.
  template <class Look>
  void for_each_active(Look&& look) FAB_REQUIRES(engine_lock);
  [[nodiscard]] int active() const noexcept { return active_.load(std::memory_order_acquire); }
  /// Pending::number of the youngest.
  [[nodiscard]] std::uint64_t activations() const noexcept FAB_REQUIRES(engine_lock) { return activations_; }
  /// The caller made progress, or started something, and goes its way: if runs are active and no thread drives, the
  /// progress thread must know.
  void hand_over_progress() noexcept {
    if (thread_wanted()) call_.call();
  }
  /// A caller waits, and drives it, or sleeps on the providers' descriptors until they tell of something.
  [[nodiscard]] bool is_driven() const noexcept override { return drivers() > 0; }
  /// How callers that go their way and come back tell the thread.
  [[nodiscard]] ThreadCall& thread_call() noexcept { return call_; }
  /// Polls everything once; for callers that hold no lock.
  void poll_once() FAB_EXCLUDES(engine_lock);
  /// Polls until `done()` says so, for about as long as a message within the node takes, if no other thread drives;
  /// otherwise once; until another thread wants the lock. Where the caller may not spin, the other ranks get the
  /// processor between two polls. Cheaper than a Driver.
  template <class Done>
  void spin_until(Done&& done) FAB_REQUIRES(engine_lock) {
    if (drivers() > 0) {
      if (!done()) progress();
      return;
    }
    count_driver(1);
    const bool spins = options_.caller_may_spin;
    for (int polls = spins ? kSpinPolls : kSpinYields; polls > 0 && !done() && !happenings_.user_work; --polls) {
      const std::size_t happened = progress();
      if (mutex_.is_wanted()) break;  // by a thread whose messages others may be waiting for
      if (happened == 0 && !spins) yield();
    }
    count_driver(-1);
  }

  /// When the caller's latest spin_until() first offered its processor to others; the beginning of time: it did not.
  /// Told once.
  [[nodiscard]] std::chrono::steady_clock::time_point take_first_yield() noexcept FAB_REQUIRES(engine_lock) {
    return options_.caller_may_spin ? kNever : std::exchange(first_yield_, kNever);
  }

  /// A post was refused: repeat it after the next progress.
  void retry_later(Post& post) noexcept FAB_REQUIRES(engine_lock) {
    backlog_.add(post);
    has_refused_posts();
  }
  /// A send to that peer was refused: repeat it in order (Backlog::add).
  void retry_later(Post& send, RefusedPosts& to_peer) FAB_REQUIRES(engine_lock) {
    backlog_.add(send, to_peer);
    has_refused_posts();
  }
  /// Forgets a refused post.
  static void forget(Post& post) noexcept { Backlog::forget(post); }
  /// Begins it as soon as it may: a run that waits for its peers' addresses.
  void begin_later(Task& task) FAB_REQUIRES(engine_lock) { deferred_.push_back(&task); }
  void forget(Task& task) noexcept FAB_REQUIRES(engine_lock);
  /// It goes on with a function of the user's, which needs a thread of the application: one that waits or tests.
  void add_user_work(Task& task) FAB_REQUIRES(engine_lock);

  /// A descriptor that is readable once something has ended, or needs a thread of the application, since it was read.
  /// The first call makes it, readable. Throws Error(no_resources).
  [[nodiscard]] int completion_fd() FAB_REQUIRES(engine_lock);
  /// Its completions make that descriptor readable, too, which is another engine's. Throws Error(no_resources).
  void share_completions(int fd) FAB_REQUIRES(engine_lock);
  /// Reads it.
  void clear_completions() noexcept { followers_.clear_descriptor(); }

  // For statistics, since the beginning.
  [[nodiscard]] std::uint64_t polls() const noexcept FAB_REQUIRES(engine_lock) { return turns_; }
  /// Each refusal of a post counts.
  [[nodiscard]] std::uint64_t refused_posts() const noexcept FAB_REQUIRES(engine_lock) { return refused_posts_; }

  /// Has `task` executed under the lock by the thread that drives next. From any thread, without the lock.
  void enqueue(TaskQueue::Task task) { tasks_.push(std::move(task)); }

  [[nodiscard]] const Log& log() const noexcept { return log_; }

  // For drivers (Driver).

  static constexpr int kSafetyTimeoutMs = 100;  ///< of a caller that waits, against lost wake-ups

  [[nodiscard]] bool caller_may_spin() const noexcept { return options_.caller_may_spin; }
  [[nodiscard]] int poll_us() const noexcept { return options_.poll_us; }
  [[nodiscard]] Crowding& crowding() noexcept { return crowding_; }
  /// `attentive`: it waits for less than the end of a run.
  void add_driver(bool attentive) noexcept FAB_REQUIRES(engine_lock);
  void remove_driver(bool attentive) noexcept FAB_REQUIRES(engine_lock);
  /// Makes the caller the one that polls, unless another thread is.
  [[nodiscard]] bool take_lead() noexcept FAB_REQUIRES(engine_lock) {
    return !is_led() && (led_.store(true, std::memory_order_relaxed), true);
  }
  void give_up_lead() noexcept FAB_REQUIRES(engine_lock) { led_.store(false, std::memory_order_relaxed); }
  /// Without the lock: a thread did, a moment ago.
  [[nodiscard]] bool is_led() const noexcept { return led_.load(std::memory_order_relaxed); }
  /// Of the one who leads, between two steps: others may want to start something.
  void give_way() const noexcept { mutex_.give_way(); }
  /// All callers that wait have processors.
  [[nodiscard]] bool followers_may_spin() const noexcept { return drivers() <= options_.spinning_threads; }
  [[nodiscard]] const Happenings& happenings() const noexcept FAB_REQUIRES(engine_lock) { return happenings_; }
  /// Does one task's user work; returns whether there was one.
  bool do_user_work() FAB_EXCLUDES(engine_lock);
  /// Of the one who leads, waits for that, and has seen those news. Returns whether it has slept.
  [[nodiscard]] bool sleep(const Condition& over, std::uint32_t seen_news, int most_ms) FAB_EXCLUDES(engine_lock);
  [[nodiscard]] Followers& followers() noexcept { return followers_; }
  /// Of one who does not lead, has seen this epoch, and waits for that. Returns the last one.
  [[nodiscard]] Followers::Epoch follow(Followers::Epoch seen, const Condition& over, int most_ms)
      FAB_EXCLUDES(engine_lock);

 private:
  using Policy = ProgressPolicy;
  static constexpr unsigned kTurnsPerIdlePoll = 64;
  static constexpr unsigned kTurnsPerLook = 64;
  static constexpr std::chrono::steady_clock::time_point kNever{};
  static constexpr int kSpinPolls = 64;
  static constexpr int kSpinYields = 8;                                    ///< of the processor
  static constexpr Policy::Time kLookPeriod = 200 * Policy::kMillisecond;  ///< of the thread, where there is a lookout

  void count_urgent(const Pending& pending, int more) noexcept FAB_REQUIRES(engine_lock) {
    if (pending.urgency != Urgency::none) call_.count(pending.urgency, more);
  }
  /// They leave in polls, and their receivers may wait for them.
  void has_refused_posts() noexcept FAB_REQUIRES(engine_lock) {
    ++refused_posts_;
    call_.allow_late_calls(false);
    if (!std::exchange(refused_posts_counted_, true)) call_.count(Urgency::peers, 1);
  }
  void yield() FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::size_t look_out() FAB_REQUIRES(engine_lock) {
    return lookout_ == nullptr ? 0 : lookout_->look(std::chrono::steady_clock::now());
  }
  std::size_t run_tasks() FAB_REQUIRES(engine_lock);
  std::size_t begin_deferred() FAB_REQUIRES(engine_lock);
  /// Something has: threads that wait for less than the end of a run look again.
  void happened() noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool may_sleep() FAB_REQUIRES(engine_lock);

  // The thread's turn.
  [[nodiscard]] Policy::Turn take_turn(Policy& policy, Sleep::End last_sleep, ParkedSleep& parked) override
      FAB_EXCLUDES(engine_lock);
  void rest_from_turns(const Policy::Rest& rest, ParkedSleep& parked) FAB_REQUIRES(engine_lock);
  void look_after_held_back(const Policy::Rest& rest, ParkedSleep& parked) FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool thread_wanted() const noexcept { return active() > 0 && drivers() == 0; }

  [[nodiscard]] int drivers() const noexcept { return drivers_.load(std::memory_order_relaxed); }
  void count_driver(int change) noexcept FAB_REQUIRES(engine_lock) {
    drivers_.store(drivers() + change, std::memory_order_relaxed);
    if (caller_waits_ != nullptr) caller_waits_->store(drivers() > 0, std::memory_order_relaxed);
  }

  Options options_;
  EngineMutex mutex_;  ///< engine_lock, which the analysis sees in its place
  Log log_;
  Counters& counters_;
  Lookout* lookout_ = nullptr;
  Recorder* recorder_ = nullptr;
  std::vector<Provider*> providers_;
  std::vector<Intake*> intakes_;
  std::uint64_t turns_ FAB_GUARDED_BY(engine_lock) = 0;
  bool halted_ = false;  ///< changes in a process with one thread

  // Both change under the lock.
  std::atomic<int> active_{0};
  std::uint64_t activations_ FAB_GUARDED_BY(engine_lock) = 0;
  std::atomic<int> drivers_{0};
  std::atomic<bool>* caller_waits_ = nullptr;       ///< of the provider that has one
  Linked active_list_ FAB_GUARDED_BY(engine_lock);  ///< of Pending
  std::atomic<bool> led_{false};                    ///< one waiting caller polls; the others follow
  int attentive_ FAB_GUARDED_BY(engine_lock) = 0;   ///< drivers that wait for less than the end of a run
  Backlog backlog_ FAB_GUARDED_BY(engine_lock);
  std::chrono::steady_clock::time_point first_yield_ FAB_GUARDED_BY(engine_lock);
  std::uint64_t refused_posts_ FAB_GUARDED_BY(engine_lock) = 0;
  bool refused_posts_counted_ FAB_GUARDED_BY(engine_lock) = false;  ///< as urgent
  bool completions_told_ FAB_GUARDED_BY(engine_lock) = false;       ///< by a descriptor, on which a program sleeps
  std::vector<Task*> deferred_ FAB_GUARDED_BY(engine_lock);
  std::vector<Task*> beginning_ FAB_GUARDED_BY(engine_lock);  ///< empty; memory for begin_deferred()
  std::vector<Task*> user_work_ FAB_GUARDED_BY(engine_lock);
  Happenings happenings_ FAB_GUARDED_BY(engine_lock);

  TaskQueue tasks_;
  Followers followers_;
  Crowding crowding_;
  ThreadCall call_;
  Sleep sleep_;
  ProgressThread thread_;
};

/// Holds the engine's lock for as long as it lives.
class FAB_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Engine& engine) FAB_ACQUIRE(engine_lock) : engine_(engine) { engine_.lock(); }
  ~Lock() FAB_RELEASE() { engine_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Engine& engine_;
};

// Each is moved to another list before it is looked at, so an operation that ends meanwhile leaves either.
template <class Look>
void Engine::for_each_active(Look&& look) {
  Linked rest;
  rest.take_all(active_list_);
  while (!rest.is_empty()) {
    Linked& place = rest.first();
    place.leave();
    active_list_.push_back(place);
    look(static_cast<Pending&>(place));
  }
}

}  // namespace fab::core
