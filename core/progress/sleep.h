// Sleeping on the providers' descriptors, and waking the thread that does.
//
// A driver that sleeps says what it waits for, and has seen all news (Happenings::news) until then. Others may post and
// poll meanwhile. Before one of them releases the lock, the sleeper must have been called or need not be: nothing that
// it waits for has ended, and every provider still tells of all that comes. So the sleeper alone silences what
// would wake it: providers by awake(), the wake descriptor by draining it. A thread that sleeps there while no other
// drives is called when a thread that polls or posts goes its way (Engine::hand_over_progress()): one that stays polls
// for it.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/condition.h"
#include "core/base/counters.h"
#include "core/base/engine_lock.h"
#include "core/progress/task.h"
#include "core/progress/task_queue.h"
#include "core/progress/thread_call.h"
#include "core/provider.h"

namespace fab::core {

/// What the engine has seen happen, for those who sleep.
struct Happenings {
  std::uint32_t news = 0;  ///< grows with each event
  bool user_work = false;  ///< something goes on with a function of the user's, which needs a thread of the application
};

/// One driver, or the progress thread, may sleep at a time.
class Sleep {
 public:
  /// Of the providers' descriptors.
  static constexpr std::size_t kMaxDescriptors = 8;
  static constexpr std::size_t kMoreDescriptors = 2;
  enum class End : std::uint8_t { told, time, safety_time };

  Sleep(const Happenings& happenings, TaskQueue& tasks, ThreadCall& thread, Counters& counters);
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

  /// Throws Error(no_resources). While no thread sleeps.
  void add(Provider& provider, Intake* intake);
  /// Every provider has a descriptor.
  [[nodiscard]] bool is_possible() const noexcept { return all_have_wait_fd_; }
  /// In a child of fork().
  void halt() noexcept FAB_REQUIRES(engine_lock) { watched_ = false; }

  // For the thread that holds the lock.

  /// Ahead of a poll: no thread sleeps on the descriptors but a driver, so providers need not tell.
  void before_poll() FAB_REQUIRES(engine_lock) {
    if (armed_ && !driver_sleeps_) disarm();
  }
  /// Ahead of each release of the lock.
  void before_release() noexcept FAB_REQUIRES(engine_lock) {
    if (watched_) look_before_release();
  }
  [[nodiscard]] bool driver_sleeps() const noexcept FAB_REQUIRES(engine_lock) { return driver_sleeps_; }

  // For those who sleep: the thread, and drivers.

  /// Whether the caller may sleep: from now on every provider tells of all that comes.
  [[nodiscard]] bool prepare() FAB_REQUIRES(engine_lock);
  /// Once it may: it is left to the lock's next holder to wake or to keep asleep.
  void watch_over() noexcept FAB_REQUIRES(engine_lock) { just_armed_ = watched_ = true; }
  /// A wake-up is only a hint: the caller polls everything again, regardless of what poll() said. `also`: more
  /// descriptors, at most kMoreDescriptors, which get their revents.
  [[nodiscard]] End sleep(int timeout_ms, int safety_timeout_ms, std::span<pollfd> also = {}) FAB_EXCLUDES(engine_lock);
  /// After a sleep of the thread's. Returns how many events had come without a wake-up.
  std::size_t look_for_missed(End end) FAB_REQUIRES(engine_lock);

  // The driver that leads.

  /// It waits for that, has seen those news, and need not be called for what came since.
  [[nodiscard]] bool driver_may_wait(Condition over, std::uint32_t seen_news) FAB_REQUIRES(engine_lock);
  /// After prepare() has said yes.
  void begin_driver() FAB_REQUIRES(engine_lock);
  /// Returns how many events had come without a wake-up.
  std::size_t end_driver(End end) FAB_REQUIRES(engine_lock);

 private:
  using Descriptors = std::array<pollfd, kMaxDescriptors + kMoreDescriptors>;
  // Where there are intakes: a message that blocks its connection wakes no thread, so sleeps grow from short ones, and
  // all but the first come after a look.
  static constexpr int kFirstBackOffMs = 1;
  static constexpr int kBackOffGrowth = 10;
  static constexpr int kLongestBackOffMs = 1000;

  void look_before_release() noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool providers_tell() FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool driver_is_needed() const FAB_REQUIRES(engine_lock);
  /// No thread sleeps on the descriptors, or the one that does must be called.
  void disarm() FAB_REQUIRES(engine_lock);

  const Happenings& happenings_;
  TaskQueue& tasks_;
  ThreadCall& thread_;
  Counters& counters_;
  std::vector<Provider*> providers_;
  std::vector<Intake*> intakes_;
  std::vector<pollfd> descriptors_;  ///< the wake-up descriptor (-1 before the first sleep), then one per provider
  bool all_have_wait_fd_ = true;
  std::atomic<bool> quiet_{false};  ///< the last sleep ended without anything coming
  std::atomic<int> back_off_ms_{kFirstBackOffMs};
  bool watched_ FAB_GUARDED_BY(engine_lock) = false;         ///< before each release of the lock
  bool armed_ FAB_GUARDED_BY(engine_lock) = false;           ///< providers may have been asked to tell
  bool just_armed_ FAB_GUARDED_BY(engine_lock) = false;      ///< by the holder of the lock, who goes to sleep
  bool driver_sleeps_ FAB_GUARDED_BY(engine_lock) = false;   ///< the one that leads
  bool driver_called_ FAB_GUARDED_BY(engine_lock) = false;   ///< since it sleeps
  Condition sleeps_for_ FAB_GUARDED_BY(engine_lock);         ///< the driver
  std::uint32_t seen_news_ FAB_GUARDED_BY(engine_lock) = 0;  ///< by it
};

}  // namespace fab::core
