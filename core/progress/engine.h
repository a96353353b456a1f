// The progress engine: polls the providers, repeats refused posts, and decides who does so and when to sleep.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/condition.h"
#include "core/base/config.h"
#include "core/base/engine_lock.h"
#include "core/base/linked.h"
#include "core/base/log.h"
#include "core/base/statistics.h"
#include "core/base/ticks.h"
#include "core/progress/backlog.h"
#include "core/progress/followers.h"
#include "core/progress/pending.h"
#include "core/progress/progress_policy.h"
#include "core/progress/task.h"
#include "core/progress/task_queue.h"
#include "core/provider.h"

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
/// context change after construction: whoever calls into those holds it.
///
/// Whoever waits drives the engine (a Driver). While nobody waits and runs are active, the progress thread drives it.
/// Otherwise the thread sleeps, and a program that only makes blocking calls never meets it. A request that nobody
/// waits for wakes it, unless it has learned that this program waits for its requests soon: then it takes naps, and
/// only looks after runs that are left alone for longer than that; or that all runs are left to the thread: then a
/// timer wakes it a little later. Where a provider has no descriptor to sleep on, it looks again and again while runs
/// are active, the more seldom the longer nothing happens. Some providers hold back messages that they have called sent
/// (libfabric's TCP, where the kernel's buffers are full): once nobody has polled them for a while, the thread does.
///
/// One caller that waits, or the thread, may sleep on the providers' descriptors. Whoever holds the lock meanwhile
/// leaves it with the sleeper called, or with descriptors that still tell of all that comes: before_release().
class Engine {
 public:
  struct Options {
    ProgressMode progress = ProgressMode::automatic;
    int progress_cpu = -1;         ///< processor of the progress thread; -1: any
    bool caller_may_spin = false;  ///< every rank of the node has a processor to itself
    bool thread_may_spin = false;  ///< and there is one more for the thread
  };

  Engine(const Options& options, const Log& log, Statistics& statistics);
  /// Stops the thread. Nothing may be in flight.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Adds a provider, and its intake if it needs one, which must outlive the engine's use. Before start_thread.
  void add(Provider& provider, Intake* intake = nullptr);
  /// Starts the progress thread unless the options forbid one.
  void start_thread();
  /// Without effect where there is none. What is in flight goes on only while somebody waits.
  void stop_thread();
  [[nodiscard]] bool has_thread() const noexcept { return thread_.joinable(); }
  [[nodiscard]] ThreadState thread_state() const noexcept { return thread_state_.load(); }
  /// After how long it looks by itself, while it is waiting or deaf.
  [[nodiscard]] ProgressPolicy::Time thread_sleep_limit() const noexcept FAB_REQUIRES(engine_lock) { return deaf_ns_; }
  /// For Lock, and for fork(), over which the lock is held.
  void lock() FAB_ACQUIRE(engine_lock) FAB_NO_ANALYSIS { mutex_.lock(); }
  void unlock() FAB_RELEASE(engine_lock) FAB_NO_ANALYSIS {
    if (has_last_look_) before_release();
    mutex_.unlock();
  }
  /// In a child of fork(), where there is no thread and what the providers are connected to is the parent's: they are
  /// left alone from now on.
  void halt() noexcept FAB_REQUIRES(engine_lock) {
    halted_ = true;
    has_last_look_ = false;
  }
  [[nodiscard]] bool halted() const noexcept { return halted_; }

  /// Null: nobody looks. While there is no thread.
  void set_lookout(Lookout* lookout) noexcept { lookout_ = lookout; }
  /// Its idle_fd() has changed.
  void lookout_changed() noexcept;
  /// Polls everything once; returns how many things happened.
  std::size_t progress() FAB_REQUIRES(engine_lock);

  /// A run became active. Call leave() once the lock is released if the caller will not wait.
  void activated() noexcept FAB_REQUIRES(engine_lock) { active_.store(active() + 1, std::memory_order_release); }
  void deactivated() noexcept FAB_REQUIRES(engine_lock);
  /// Something that callers wait for has ended.
  void ended() noexcept FAB_REQUIRES(engine_lock);
  /// The same of something that somebody may wait for.
  void activated(Pending& pending) noexcept FAB_REQUIRES(engine_lock) {
    pending.quiet_since = {};
    pending.older_than_loss = false;
    active_list_.push_back(pending);
    activated();
  }
  void deactivated(Pending& pending) noexcept FAB_REQUIRES(engine_lock) {
    pending.leave();
    deactivated();
  }
  /// Calls `look` with each of them, also where it ends some, or all.
  template <class Look>
  void for_each_active(Look&& look) FAB_REQUIRES(engine_lock);
  [[nodiscard]] int active() const noexcept { return active_.load(std::memory_order_acquire); }
  /// The caller made progress, or started something, and goes its way: if runs are active and nobody drives, the
  /// progress thread must know.
  void leave() noexcept {
    if (thread_wanted()) call_thread();
  }
  /// A run was started that needs the thread, as its plan's last run did: a thread that dozes is called, too.
  void need_thread() noexcept { needs_thread_.store(true, std::memory_order_relaxed); }
  /// For a caller that waits or tests. Returns the ticks() at which the last one went its way; 0: one came back since.
  std::uint64_t come_back() noexcept {
    const std::uint64_t left_at = left_at_.load(std::memory_order_relaxed);
    if (left_at == 0) return 0;
    left_at_.store(0, std::memory_order_relaxed);
    if (ticks() - left_at > kAbsenceTicks) absences_.store(absences() + 1, std::memory_order_relaxed);
    return left_at;
  }
  /// How often callers have left runs alone for longer than these liked. Some may be lost.
  [[nodiscard]] std::uint32_t absences() const noexcept { return absences_.load(std::memory_order_relaxed); }
  /// Polls everything once; for callers that hold no lock.
  void poll_once() FAB_EXCLUDES(engine_lock);
  /// Polls until `done()` says so, for about as long as a message within the node takes, if nobody else drives;
  /// otherwise once. Where the caller may not spin, the other ranks get the processor between two polls. Cheaper than a
  /// Driver.
  template <class Done>
  void linger(Done&& done) FAB_REQUIRES(engine_lock) {
    if (drivers() > 0) {
      if (!done()) progress();
      return;
    }
    count_driver(1);
    const bool spins = options_.caller_may_spin;
    for (int polls = spins ? kLingeringPolls : kLingeringTurns; polls > 0 && !done() && parked_.empty(); --polls)
      if (progress() == 0 && !spins) yield();
    count_driver(-1);
  }

  /// A post was refused: repeat it after the next progress.
  void retry_later(Post& post) noexcept FAB_REQUIRES(engine_lock) {
    backlog_.add(post);
    may_call_late_.store(false, std::memory_order_relaxed);
  }
  /// The same of a send to that peer (Backlog::add).
  void retry_later(Post& send, RefusedPosts& to_peer) FAB_REQUIRES(engine_lock) {
    backlog_.add(send, to_peer);
    may_call_late_.store(false, std::memory_order_relaxed);
  }
  /// Forgets a refused post.
  static void forget(Post& post) noexcept { Backlog::forget(post); }
  /// Begins it as soon as it may: a run that waits for its peers' addresses.
  void begin_later(Task& task) FAB_REQUIRES(engine_lock) { deferred_.push_back(&task); }
  void forget(Task& task) noexcept FAB_REQUIRES(engine_lock);
  /// It goes on with a function of the user's, which needs a thread of the application: one that waits or tests.
  void park(Task& task) FAB_REQUIRES(engine_lock);

  /// A descriptor that is readable once something has ended, or needs a thread of the application, since it was read.
  /// The first call makes it, readable. Throws Error(no_resources).
  [[nodiscard]] int completion_fd() FAB_REQUIRES(engine_lock) { return followers_.descriptor(); }
  /// Reads it.
  void clear_completions() noexcept { followers_.clear_descriptor(); }

  /// Has `task` executed under the lock by whoever drives next. From any thread, without the lock.
  void enqueue(TaskQueue::Task task) { tasks_.push(std::move(task)); }

  [[nodiscard]] const Log& log() const noexcept { return log_; }

 private:
  friend class Driver;
  using Policy = ProgressPolicy;
  static constexpr std::size_t kMaxDescriptors = 8;
  static constexpr unsigned kTurnsPerIdlePoll = 64;
  static constexpr unsigned kTurnsPerLook = 64;
  static constexpr int kLingeringPolls = 64;
  static constexpr int kLingeringTurns = 8;     ///< of the processor
  static constexpr int kSafetyTimeoutMs = 100;  ///< of a caller that waits, against lost wake-ups
  static constexpr int kThreadSafetyTimeoutMs = static_cast<int>(Policy::kSafetyTimeout / Policy::kMillisecond);
  static constexpr Policy::Time kLookPeriod = 200 * Policy::kMillisecond;  ///< of the thread, where there is a lookout
  static constexpr std::uint64_t kAbsenceTicks = 250'000;  ///< some 100 us: what short messages do by themselves
  // Of sleeps, where there are intakes.
  static constexpr int kFirstNapMs = 1;
  static constexpr int kNapGrowth = 10;
  static constexpr int kLongestNapMs = 1000;

  void yield() FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::size_t look_out() FAB_REQUIRES(engine_lock) {
    return lookout_ == nullptr ? 0 : lookout_->look(std::chrono::steady_clock::now());
  }
  std::size_t run_tasks() FAB_REQUIRES(engine_lock);
  std::size_t begin_deferred() FAB_REQUIRES(engine_lock);
  /// Takes one parked task on; returns whether there was one.
  bool run_parked() FAB_EXCLUDES(engine_lock);

  // Sleeping (core/progress/sleep.cpp).
  enum class SleepEnd : std::uint8_t { told, time, safety_time };
  using Descriptors = std::array<pollfd, kMaxDescriptors + 1>;
  [[nodiscard]] bool may_sleep() FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool providers_tell() FAB_REQUIRES(engine_lock);
  [[nodiscard]] SleepEnd sleep(int timeout_ms, int safety_timeout_ms, pollfd* also = nullptr);
  /// Returns whether the one who leads may sleep now, having seen those news.
  [[nodiscard]] bool begin_sleep(Condition over, std::uint32_t seen_news) FAB_EXCLUDES(engine_lock);
  void end_sleep(SleepEnd end) FAB_EXCLUDES(engine_lock);
  /// Who sleeps is left to the lock's next holder to wake or to keep asleep.
  void watch_over_sleep() noexcept FAB_REQUIRES(engine_lock);
  void before_release() noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool driver_is_needed() FAB_REQUIRES(engine_lock);
  void look_for_missed(SleepEnd end) FAB_REQUIRES(engine_lock);
  /// Nobody sleeps on the descriptors, or whoever does must be called.
  void disarm() FAB_REQUIRES(engine_lock);
  /// Those that the thread sleeps on. Throws Error(no_resources).
  void open_events();

  void thread_main();
  [[nodiscard]] Policy::Turn thread_turn(Policy& policy);
  void become_deaf(Policy::Time ns);
  void look_after_held_back(const Policy::Rest& rest) FAB_REQUIRES(engine_lock);
  void look_out_while_idle() FAB_REQUIRES(engine_lock);
  /// Returns whether somebody called.
  bool doze(Policy::Time ns);
  [[nodiscard]] bool take_need() noexcept { return needs_thread_.exchange(false, std::memory_order_relaxed); }
  /// While something is in flight.
  [[nodiscard]] Policy::Time longest_thread_sleep() const noexcept {
    return lookout_ == nullptr ? Policy::kSafetyTimeout : kLookPeriod;
  }
  /// Sleeps as the turn has decided; returns whether somebody called.
  bool sleep_until_called();
  /// Whether poll() saw a call on thread_fd_, which it was woken by or not; the descriptor is reset.
  [[nodiscard]] bool take_call();
  void call_thread() noexcept;
  void wake_thread() noexcept;
  void count_call() noexcept { calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  [[nodiscard]] bool thread_wanted() const noexcept { return active() > 0 && drivers() == 0; }
  [[nodiscard]] int drivers() const noexcept { return drivers_.load(std::memory_order_relaxed); }
  void count_driver(int change) noexcept FAB_REQUIRES(engine_lock) {
    drivers_.store(drivers() + change, std::memory_order_relaxed);
  }
  /// Makes the caller the one who polls, unless somebody is.
  [[nodiscard]] bool take_lead() noexcept FAB_REQUIRES(engine_lock) { return !std::exchange(led_, true); }

  /// Of a follower that has seen this epoch, and waits for that.
  [[nodiscard]] Followers::Epoch wait_for_epoch_after(Followers::Epoch seen, const Condition& over, int most_ms)
      FAB_EXCLUDES(engine_lock);

  std::mutex mutex_;                                        ///< engine_lock, which the analysis sees in its place
  bool has_last_look_ FAB_GUARDED_BY(engine_lock) = false;  ///< before each release of the lock
  Options options_;
  Log log_;
  Statistics& statistics_;
  Lookout* lookout_ = nullptr;
  std::vector<Provider*> providers_;
  std::vector<Intake*> intakes_;
  unsigned turns_ FAB_GUARDED_BY(engine_lock) = 0;
  std::atomic<bool> quiet_{false};  ///< the last sleep ended without anything coming
  std::atomic<int> nap_ms_{kFirstNapMs};
  std::vector<pollfd> descriptors_;  ///< the wake-up descriptor (-1 before the first sleep), then one per provider
  bool all_have_wait_fd_ = true;
  bool halted_ = false;  ///< changes in a process with one thread

  // Both change under the lock.
  std::atomic<int> active_{0};
  std::atomic<int> drivers_{0};
  Linked active_list_ FAB_GUARDED_BY(engine_lock);  ///< of Pending
  bool led_ FAB_GUARDED_BY(engine_lock) = false;    ///< one waiting caller polls; the others follow
  int attentive_ FAB_GUARDED_BY(engine_lock) = 0;   ///< drivers that wait for less than the end of a run
  Backlog backlog_ FAB_GUARDED_BY(engine_lock);
  std::vector<Task*> deferred_ FAB_GUARDED_BY(engine_lock);
  std::vector<Task*> parked_ FAB_GUARDED_BY(engine_lock);
  std::uint32_t news_ FAB_GUARDED_BY(engine_lock) = 0;       ///< grows with whatever happens
  bool armed_ FAB_GUARDED_BY(engine_lock) = false;           ///< providers may have been asked to tell
  bool driver_sleeps_ FAB_GUARDED_BY(engine_lock) = false;   ///< the one that leads
  bool driver_called_ FAB_GUARDED_BY(engine_lock) = false;   ///< since it sleeps
  bool just_armed_ FAB_GUARDED_BY(engine_lock) = false;      ///< by the holder of the lock, who goes to sleep
  Condition sleeps_for_ FAB_GUARDED_BY(engine_lock);         ///< the driver
  std::uint32_t seen_news_ FAB_GUARDED_BY(engine_lock) = 0;  ///< by it

  TaskQueue tasks_;
  Followers followers_;

  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<ThreadState> thread_state_{ThreadState::awake};
  std::atomic<std::uint32_t> calls_{0};  ///< of call_thread; some may be lost
  pollfd thread_fd_;                     ///< readable: called
  pollfd late_call_;                     ///< the same, by a timer
  SleepEnd thread_sleep_end_ = SleepEnd::told;
  std::vector<pollfd> deaf_fds_;  ///< what a deaf thread sleeps on: being called, and what providers hold back
  Policy::Time deaf_ns_ = Policy::kForEver;  ///< and how long; a waiting one, too
  std::atomic<bool> may_call_late_{false};
  std::atomic<bool> needs_thread_{false};
  std::atomic<std::uint64_t> left_at_{0};  ///< ticks() when a caller went its way, unless the thread was awake
  std::atomic<std::uint32_t> absences_{0};
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

// Each is moved to another list before it is looked at, so whatever ends meanwhile leaves either.
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

/// Called again and again while a driver finds nothing to do: keeps another library going (MPI's own progress).
using IdleHook = void (*)();

/// The calling thread drives the engine for as long as this object lives. Several threads may at once: one leads and
/// polls, the others sleep until a run ended (an attentive one: until anything happened) or the leader left.
class Driver {
 public:
  enum class Attention : std::uint8_t { to_runs, to_everything };

  /// `over`: what it waits for has come, or with attention to everything may have. Without it, every event wakes it.
  explicit Driver(Engine& engine, IdleHook idle = nullptr, Attention attention = Attention::to_runs,
                  Condition over = {}) FAB_EXCLUDES(engine_lock);
  ~Driver() FAB_EXCLUDES(engine_lock);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Makes progress once; returns whether something happened.
  bool step() FAB_EXCLUDES(engine_lock);
  /// Nothing happened: spins for a moment where this rank owns a processor, elsewhere yields it; then sleeps, for so
  /// long at most.
  void rest(int most_ms = std::numeric_limits<int>::max()) FAB_EXCLUDES(engine_lock);

 private:
  [[nodiscard]] bool still_spinning();
  void follow(int most_ms);

  Engine& engine_;
  IdleHook idle_;
  const Attention attention_;
  const Condition over_;
  bool leading_ = false;
  bool following_ = false;
  Followers::Epoch seen_epoch_ = 0;
  std::uint32_t seen_news_ = 0;  ///< by the last step
  bool spun_ = false;
  std::int64_t spin_end_ns_ = 0;
};

}  // namespace fab::core
