// A plan with the runs that were made of it. A run that has ended serves the next start.
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "core/base/engine_lock.h"
#include "core/base/slots.h"
#include "core/job/ledger.h"
#include "core/run/run.h"

namespace fab::core {

/// What a plan is made of.
struct PlanSource {
  PlanSource(Schedule its_schedule, std::string_view its_algorithm = {})  // NOLINT(google-explicit-constructor)
      : schedule(std::move(its_schedule)), algorithm(its_algorithm) {}

  Schedule schedule;
  std::string_view algorithm;   ///< for statistics: a literal; empty: there is no choice
  bool starts_on_hold = false;  ///< of its runs (RunOwner)
};

/// Guarded by the engine's lock, but for needs_thread.
class RunPool final : public RunOwner, Ledger::Counted {
 public:
  /// Keeps it while it is in use although nothing will be started any more.
  class Keeper {
   public:
    /// No run of it is in use any more. Ends its life.
    virtual void drop(const RunPool& pool) noexcept FAB_REQUIRES(engine_lock) = 0;

   protected:
    ~Keeper() = default;
  };
  using Clock = std::chrono::steady_clock;

  /// As Plan's constructor. `begun`: when its schedule began to be built.
  RunPool(Membership& membership, PlanSource source, Plan::Use use = Plan::Use::runs,
          Clock::time_point begun = Clock::now());
  ~RunPool();
  RunPool(const RunPool&) = delete;
  RunPool& operator=(const RunPool&) = delete;

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  /// A run that is not in use; made when there is none.
  [[nodiscard]] Run& acquire() FAB_REQUIRES(engine_lock) { return runs_.take(plan_, static_cast<RunOwner&>(*this)); }
  /// The last run that is in use ends a retired pool's life, and its own.
  void release(Run& run) noexcept override FAB_REQUIRES(engine_lock);
  [[nodiscard]] Ledger::Row& row() noexcept override FAB_REQUIRES(engine_lock) { return row_; }
  [[nodiscard]] bool in_use() const noexcept FAB_REQUIRES(engine_lock) { return !runs_.none_in_use(); }
  /// From now on the keeper has it.
  void retire(Keeper& keeper) noexcept FAB_REQUIRES(engine_lock) { keeper_ = &keeper; }

 private:
  void add_to(OperationSums& sums) const noexcept override FAB_REQUIRES(engine_lock);
  void visit_received(const Ledger::VisitReceived& visit) const override FAB_REQUIRES(engine_lock);

  Plan plan_;
  Slots<Run> runs_ FAB_GUARDED_BY(engine_lock);
  Keeper* keeper_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< once it is retired
  Ledger& ledger_;
  std::uint64_t made_ns_ = 0;  ///< the time that took
  Ledger::Row& row_;
};

}  // namespace fab::core
