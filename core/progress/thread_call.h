// Lets a caller that leaves something in flight call the progress thread, and tells the thread about the caller.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/ticks.h"
#include "core/progress/progress_policy.h"

namespace fab::core {

/// From any thread, but for what only the thread does.
class ThreadCall {
 public:
  ThreadCall();
  ~ThreadCall();
  ThreadCall(const ThreadCall&) = delete;
  ThreadCall& operator=(const ThreadCall&) = delete;

  // Callers.

  /// Runs are active, no thread drives, and the caller goes its way. The processor may be the caller's, which the
  /// thread takes from it at once: that time is none of the caller's.
  void call() noexcept {
    if (state(std::memory_order_relaxed) == ThreadState::awake) return count();
    wake();
    left_at_.store(ticks(), std::memory_order_relaxed);
  }
  /// A run was started that needs the thread, as its plan's last run did: a thread in a timed sleep is called, too,
  /// unless it holds back and nothing in flight is urgent.
  void need() noexcept {
    if (ProgressPolicy::is_urgent(urgency())) needed_.store(true, std::memory_order_relaxed);
  }
  /// A caller waits or tests. Returns the ticks() at which the last one went its way; 0: one came back since.
  std::uint64_t resume_polling() noexcept {
    const std::uint64_t left_at = left_at_.load(std::memory_order_relaxed);
    if (left_at == 0) return 0;
    left_at_.store(0, std::memory_order_relaxed);
    if (ticks() - left_at > absence_ticks_.load(std::memory_order_relaxed))
      absences_.store(absences() + 1, std::memory_order_relaxed);
    return left_at;
  }
  /// How often callers have left runs alone for longer than these liked. Some may be lost.
  [[nodiscard]] std::uint32_t absences() const noexcept { return absences_.load(std::memory_order_relaxed); }
  /// Ends a sleep, or the next one, in every state of the thread.
  void raise() noexcept;

  // The holder of the engine's lock.

  [[nodiscard]] ThreadState state(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return state_.load(order);
  }
  void set_state(ThreadState state, std::memory_order order) noexcept { state_.store(state, order); }
  /// The thread sleeps on descriptors that no longer tell of all that comes: from now on it must be called.
  void park() noexcept {
    if (state(std::memory_order_relaxed) == ThreadState::waiting)
      state_.store(ThreadState::parked, std::memory_order_release);
  }
  /// So many more in flight are as urgent. For those that need polls a thread that holds back is called as any other
  /// is.
  void count(Urgency urgency, int more) noexcept {
    std::atomic<int>& count = urgent_[static_cast<std::size_t>(urgency)];
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] int count(Urgency urgency) const noexcept {
    return urgent_[static_cast<std::size_t>(urgency)].load(std::memory_order_relaxed);
  }
  void allow_late_calls(bool may_call_late) noexcept { may_call_late_.store(may_call_late, std::memory_order_relaxed); }

  // The thread.

  /// Throws Error(no_resources).
  void open();
  /// The thread holds back (ProgressPolicy::Ways), perhaps on a node with more callers than processors. Before it
  /// starts.
  void hold_back(bool crowded) noexcept {
    holds_back_ = true;
    crowded_ = crowded;
  }
  /// Readable: called.
  [[nodiscard]] const pollfd& event() const noexcept { return event_; }
  /// Readable: the timer has called.
  [[nodiscard]] const pollfd& timer() const noexcept { return timer_; }
  /// How the thread was called.
  struct Called {
    Urgency urgency = Urgency::polls;
    bool left_alone = true;  ///< the last caller that went its way has been away for long
  };
  /// What poll() has seen of them: resets what was readable. None: it was not called.
  [[nodiscard]] std::optional<Called> take(short event_revents, short timer_revents);
  /// Calls for what waits for nothing come so late from now on.
  void hold_back_for(ProgressPolicy::Time ns) noexcept { hold_back_.store(ns, std::memory_order_relaxed); }
  [[nodiscard]] bool take_need() noexcept { return needed_.exchange(false, std::memory_order_relaxed); }
  /// So far. Some may be lost.
  [[nodiscard]] std::uint32_t calls() const noexcept { return calls_.load(std::memory_order_relaxed); }

 private:
  void count() noexcept { calls_.store(calls() + 1, std::memory_order_relaxed); }
  /// Of all that is in flight; of a thread that does not hold back everything needs polls.
  [[nodiscard]] Urgency urgency() const noexcept {
    if (!holds_back_ || count(Urgency::polls) > 0) return Urgency::polls;
    if (count(Urgency::peers) > 0) return ProgressPolicy::for_peers(crowded_);
    return count(Urgency::sends) > 0 ? Urgency::sends : Urgency::none;
  }
  [[nodiscard]] ProgressPolicy::Time late_call(Urgency urgency) const noexcept {
    return ProgressPolicy::late_call(urgency, hold_back_.load(std::memory_order_relaxed));
  }
  void wake() noexcept;
  void call_in(ProgressPolicy::Time ns) noexcept;
  void shorten(Urgency urgency) noexcept;

  bool holds_back_ = false;
  bool crowded_ = false;
  std::atomic<Urgency> late_call_{Urgency::polls};  ///< how urgent it was when its timer was set
  std::atomic<ProgressPolicy::Time> hold_back_{ProgressPolicy::kLongHoldBack};
  std::array<std::atomic<int>, 4> urgent_{};  ///< by Urgency, in flight; none of `none` is counted
  std::atomic<ThreadState> state_{ThreadState::awake};
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> may_call_late_{false};
  std::atomic<bool> needed_{false};
  std::atomic<std::uint64_t> left_at_{0};  ///< ticks() when a caller went its way, unless the thread was awake
  /// The longest that is none, of the caller that left then.
  std::atomic<std::uint64_t> absence_ticks_{ticks_in(ProgressPolicy::kAbsence)};
  std::atomic<std::uint32_t> absences_{0};
  pollfd event_;
  pollfd timer_;
};

}  // namespace fab::core
