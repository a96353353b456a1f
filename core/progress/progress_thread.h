// The thread that drives while no caller waits.
#pragma once

#include <poll.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/counters.h"
#include "core/base/engine_lock.h"
#include "core/base/log.h"
#include "core/progress/progress_policy.h"
#include "core/progress/sleep.h"
#include "core/progress/thread_call.h"
#include "core/trace/recorder.h"

namespace fab::core {

/// How a thread sleeps that must be called.
struct ParkedSleep {
  std::vector<pollfd> also;  ///< what ends it besides a call: what providers hold back, lifelines of peers
  ProgressPolicy::Time ns = ProgressPolicy::kForEver;  ///< and after how long it looks by itself; also while waiting
};

/// What the thread does in a turn: the engine's.
class ThreadWork {
 public:
  /// Looks once, if a run needs the thread, and decides how it sleeps otherwise. `last_sleep`: how its last sleep on
  /// the providers' descriptors ended, if it comes from one.
  [[nodiscard]] virtual ProgressPolicy::Turn take_turn(ProgressPolicy& policy, Sleep::End last_sleep,
                                                       ParkedSleep& parked) FAB_EXCLUDES(engine_lock) = 0;
  /// A caller waits, and polls.
  [[nodiscard]] virtual bool is_driven() const noexcept = 0;

 protected:
  ~ThreadWork() = default;
};

class ProgressThread {
 public:
  struct Options {
    bool only_looks = false;  ///< ProgressPolicy::Ways
    bool may_spin = false;
    bool holds_back = false;
    bool crowded = false;          ///< and the node has more callers than processors
    int cpu = -1;                  ///< -1: any
    Recorder* recorder = nullptr;  ///< of its sleeps; null: none
  };

  ProgressThread(ThreadWork& work, ThreadCall& call, Sleep& sleep, Counters& counters, const Log& log)
      : work_(work), call_(call), sleep_(sleep), counters_(counters), log_(log) {}
  ~ProgressThread() { stop(); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// Throws Error(no_resources).
  void start(const Options& options);
  /// Without effect where it does not run.
  void stop();
  [[nodiscard]] bool runs() const noexcept { return thread_.joinable(); }
  /// The caller is this thread.
  [[nodiscard]] bool is_caller() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }
  /// After how long it looks by itself, while it is waiting or parked.
  [[nodiscard]] ProgressPolicy::Time sleep_limit() const noexcept FAB_REQUIRES(engine_lock) { return parked_sleep_.ns; }

 private:
  using Policy = ProgressPolicy;
  static constexpr int kSafetyTimeoutMs = static_cast<int>(Policy::kSafetyTimeout / Policy::kMillisecond);

  void run(const Options& options);
  void pin(int cpu);
  // Each returns whether the thread was called, or how urgently.
  bool timed_sleep(Policy::Time ns);
  std::optional<ThreadCall::Called> sleep_until_called();
  std::optional<ThreadCall::Called> sleep_parked();

  ThreadWork& work_;
  ThreadCall& call_;
  Sleep& sleep_;
  Counters& counters_;
  const Log& log_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  Sleep::End last_sleep_ = Sleep::End::told;
  /// Changes in a turn, under the engine's lock. Only the thread itself changes it, and so reads it without the lock.
  ParkedSleep parked_sleep_;
  std::vector<pollfd> parked_fds_;
};

}  // namespace fab::core
