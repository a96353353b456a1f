// A task that the engine continues when its time has come, without knowing its type; runs are tasks.
#pragma once

#include "core/base/engine_lock.h"

namespace fab::core {

/// Guarded by the engine's lock, but for do_user_work().
class Task {
 public:
  // One that was put off: Engine::begin_later.

  [[nodiscard]] virtual bool may_begin() const noexcept FAB_REQUIRES(engine_lock) = 0;
  virtual void begin() FAB_REQUIRES(engine_lock) = 0;

  // One that goes on in a thread of the application: Engine::add_user_work.

  /// The engine has taken it out of its list; returns whether there is something to do.
  [[nodiscard]] virtual bool begin_user_work() noexcept FAB_REQUIRES(engine_lock) = 0;
  /// Calls functions of the user's. Without the lock.
  virtual void do_user_work() = 0;
  /// Goes on from there.
  virtual void local_operations_done() FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~Task() = default;
};

/// Looks after what a provider does not hand over by itself (core/peers/inbox.h). Guarded by the engine's lock.
class Intake {
 public:
  /// After every poll of the provider.
  virtual void polled(bool nothing_happened) FAB_REQUIRES(engine_lock) = 0;
  /// Before a sleep. `quiet`: nothing came during the last one. Returns whether something happened.
  [[nodiscard]] virtual bool look_before_sleep(bool quiet) FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~Intake() = default;
};

}  // namespace fab::core
