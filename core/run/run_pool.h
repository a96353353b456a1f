// A plan with the runs that were made of it. A run that has ended serves the next start.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/run/run.h"

namespace fab::core {

/// Guarded by the engine's lock, but for needs_thread.
class RunPool final : public RunOwner {
 public:
  /// Keeps it while it is in use although nothing will be started any more.
  class Keeper {
   public:
    /// No run of it is in use any more. Ends its life.
    virtual void drop(const RunPool& pool) noexcept FAB_REQUIRES(engine_lock) = 0;

   protected:
    ~Keeper() = default;
  };

  /// As Plan's constructor.
  RunPool(Membership& membership, Schedule schedule, Plan::Use use = Plan::Use::runs)
      : plan_(membership, std::move(schedule), use) {}
  ~RunPool();
  RunPool(const RunPool&) = delete;
  RunPool& operator=(const RunPool&) = delete;

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  /// A run that is not in use; made when there is none.
  [[nodiscard]] Run& acquire() FAB_REQUIRES(engine_lock) {
    Run& run = idle_runs_ != nullptr ? *idle_runs_ : add_run();
    idle_runs_ = run.next_idle;
    ++runs_in_use_;
    return run;
  }
  /// The last run that is in use ends a retired pool's life, and its own.
  void release(Run& run) noexcept override FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool in_use() const noexcept FAB_REQUIRES(engine_lock) { return runs_in_use_ > 0; }
  /// From now on the keeper has it.
  void retire(Keeper& keeper) noexcept FAB_REQUIRES(engine_lock) { keeper_ = &keeper; }

 private:
  [[nodiscard]] Run& add_run() FAB_REQUIRES(engine_lock);

  Plan plan_;
  std::vector<std::unique_ptr<Run>> runs_ FAB_GUARDED_BY(engine_lock);
  Run* idle_runs_ FAB_GUARDED_BY(engine_lock) = nullptr;
  std::size_t runs_in_use_ FAB_GUARDED_BY(engine_lock) = 0;
  Keeper* keeper_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< once it is retired
};

}  // namespace fab::core
