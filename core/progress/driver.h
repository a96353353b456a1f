// A caller that waits, and drives the engine meanwhile.
#pragma once

#include <cstdint>
#include <limits>

#include "core/base/condition.h"
#include "core/progress/engine.h"
#include "core/progress/shared_wait.h"

namespace fab::core {

/// Called again and again while a driver finds nothing to do: keeps another library going (MPI's own progress).
using IdleHook = void (*)();

/// The calling thread drives the engine for as long as this object lives. Several threads may at once: one leads and
/// polls. The others look for a while whether what they wait for has come, where they have processors. Then they sleep
/// until a run ended (an attentive one: until anything happened) or the leader left.
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
  /// Since the first rest after something has happened.
  [[nodiscard]] std::int64_t since_spin_began(std::int64_t now);
  [[nodiscard]] bool follows_awake();
  [[nodiscard]] bool still_spinning();
  [[nodiscard]] bool spin_on_own_processor(std::int64_t now);
  [[nodiscard]] bool offer_shared_processor(std::int64_t now);
  [[nodiscard]] std::int64_t poll_ns() const;
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
  std::int64_t spin_begin_ns_ = 0;
  SharedWait shared_wait_;
};

}  // namespace fab::core
