// A group of ranks, an id that separates its traffic, and at most one topology.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/base/engine_lock.h"
#include "core/communicator/call_check.h"
#include "core/communicator/plan_cache.h"
#include "core/context.h"
#include "core/job/membership.h"
#include "core/run/run_pool.h"
#include "fab/topology.h"

namespace fab::core {

/// What changes after construction is guarded by the engine's lock.
class Communicator final : public Membership {
 public:
  /// Without an id calls can be started but wait for set_context_id.
  Communicator(std::shared_ptr<Context> context, Group group, Rank rank, std::optional<ContextId> id);
  ~Communicator() override;
  /// Of all ranks of the job; each call gives one with the same id, so bindings keep the first.
  [[nodiscard]] static std::shared_ptr<Communicator> world(std::shared_ptr<Context> context);

  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] const std::shared_ptr<Context>& shared_context() const noexcept { return context_; }

  /// At most once, before any call.
  void set_topology(Topology topology);
  [[nodiscard]] const Topology* topology() const noexcept { return topology_ ? &*topology_ : nullptr; }
  /// The edges of this rank; empty without a topology.
  [[nodiscard]] const Neighborhood& neighborhood() const noexcept { return neighborhood_; }

  /// From any thread, without the engine's lock.
  void set_context_id(ContextId id);
  /// No id can be had: calls that wait for one, and later ones, fail for this reason. As set_context_id.
  void refuse_context_id(Status reason);

  /// Of the schedules that run on this communicator. Within a node a message costs less than copying blocks
  /// together: none are combined.
  [[nodiscard]] CommitOptions commit_options() const;

  /// Starts the plan of calls of one shape: `call`, and what `describe` adds to a CallShape. `build` makes its
  /// schedule, or PlanSource, when there is none yet. Under the engine's lock. All ranks of the communicator start
  /// their calls in the same order. `user` is what ReduceOp::user calls, `words` what the call is called where calls
  /// are compared (CalledAs); empty: by the name of its schedule.
  template <class Describe, class Build>
  Run& start(std::uint64_t call, Describe&& describe, std::span<std::byte* const> bases, Build&& build,
             const UserReduction& user = {}, std::string_view words = {}) FAB_REQUIRES(engine_lock) {
    shape_.reset(call);
    describe(shape_);
    const CallShape& shape = shape_;
    if (RunPool* const known = plans_.find(shape)) return start(*known, bases, user, words);
    const auto begun = RunPool::Clock::now();
    auto made = std::make_unique<RunPool>(*this, build(), Plan::Use::runs, begun);
    if (!plans_.keeps_plans()) return start(std::move(made), bases, user, words);
    return start(plans_.store(shape, std::move(made)), bases, user, words);
  }
  Run& start(RunPool& pool, std::span<std::byte* const> bases, const UserReduction& user = {},
             std::string_view words = {}) FAB_REQUIRES(engine_lock);
  /// The plan of a call that repeats an earlier one, for start(). Null: start it by its shape, and tell remember().
  /// Calls that are compared have none.
  [[nodiscard]] RunPool* plan_of(const CallBrief& brief, const CallNumbers* numbers = nullptr) noexcept
      FAB_REQUIRES(engine_lock) {
    return plans_.find(brief, numbers);
  }
  void remember(const CallBrief& brief, std::span<const Layout* const> layouts,
                const CallNumbers* numbers = nullptr) noexcept FAB_REQUIRES(engine_lock) {
    if (!compares_calls_ && !brief.empty()) plans_.remember(brief, layouts, numbers);
  }
  /// Of a plan that ends with this run.
  Run& start(std::unique_ptr<RunPool> pool, std::span<std::byte* const> bases, const UserReduction& user = {},
             std::string_view words = {}) FAB_REQUIRES(engine_lock);
  /// Called while an exception is handled: the call that it ends was refused, and uses up its place (refused_call.h).
  enum class Order : std::uint8_t { calls, persistent };
  void call_refused(Order order) noexcept;
  /// CallPlace::number of a persistent exchange.
  [[nodiscard]] static constexpr std::uint64_t persistent_place(std::uint64_t number) noexcept {
    return number | 1ull << 63;
  }
  /// Ranks compare what they call before they do it.
  [[nodiscard]] bool compares_calls() const noexcept { return compares_calls_; }
  /// Before the first call: not all of them make each call.
  void compare_no_calls() noexcept { compares_calls_ = false; }

  /// The one run of a persistent exchange, to be given back. All ranks of the communicator make theirs in the same
  /// order. Throws Error(no_resources) when as many last as tags can tell apart.
  [[nodiscard]] Run& make_persistent(PlanSource source, std::span<std::byte* const> bases,
                                     const UserReduction& user = {}, std::string_view words = {})
      FAB_REQUIRES(engine_lock);
  /// Started, for the caller to complete: messages that ranks exchange before they make the next persistent exchange,
  /// whose place in the order they share. Their slots are not 0, and differ from one such run to the next. Where a rank
  /// refuses that exchange, runs that wait for it end with its reason.
  [[nodiscard]] Run& prepare_persistent(Schedule schedule, std::span<std::byte* const> bases) FAB_REQUIRES(engine_lock);
  /// It is not started any more, and an active start of it will not be completed: peers that ask learn why.
  void persistent_given_up(const Run& run, const std::string& reason) FAB_REQUIRES(engine_lock) {
    refuse_call(run.place(), reason);
  }
  void give_back_persistent(Run& run) noexcept FAB_REQUIRES(engine_lock);
  /// Throws Error(cancelled) when the context is closed.
  void start_persistent(Run& run) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::size_t cached_plans() const noexcept FAB_REQUIRES(engine_lock) { return plans_.size(); }
  [[nodiscard]] std::size_t retired_plans() const noexcept FAB_REQUIRES(engine_lock) { return plans_.retired(); }

 private:
  /// By their places.
  using RefusedCalls = std::vector<std::pair<std::uint64_t, std::string>>;

  void check_open(const Plan& plan) const FAB_REQUIRES(engine_lock);
  [[nodiscard]] Run& compare(const CalledAs& call) FAB_REQUIRES(engine_lock);
  /// Starts the comparison, after which, and with whose end, the run goes on.
  void compare(const CalledAs& call, Run& run) FAB_REQUIRES(engine_lock);
  void refuse_call(std::uint64_t place, const std::string& reason) FAB_REQUIRES(engine_lock);
  [[nodiscard]] RefusedCalls take_refused() FAB_REQUIRES(engine_lock);
  /// For the persistent exchange of that number.
  void make_contact(const Plan& plan, std::uint64_t number) FAB_REQUIRES(engine_lock);
  [[nodiscard]] Run& make_retired(PlanSource source, Plan::Use use, std::span<std::byte* const> bases,
                                  std::uint64_t sequence_tag, const UserReduction& user = {}) FAB_REQUIRES(engine_lock);

  const std::shared_ptr<Context> context_;  ///< outlives all that follows
  std::optional<Topology> topology_;
  Neighborhood neighborhood_;
  std::uint64_t next_sequence_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint64_t next_persistent_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint64_t persistent_ FAB_GUARDED_BY(engine_lock) = 0;
  /// The exception on its way says that the same call may be made later.
  bool call_again_ FAB_GUARDED_BY(engine_lock) = false;
  std::uint64_t calls_ FAB_GUARDED_BY(engine_lock) = 0;  ///< counted where they are compared
  RefusedCalls refused_ FAB_GUARDED_BY(engine_lock);     ///< until there is an id; a thread has to drive meanwhile
  bool compares_calls_;
  std::unique_ptr<CallCheck> call_check_ FAB_GUARDED_BY(engine_lock);  ///< from the first call on that is compared
  CallShape shape_ FAB_GUARDED_BY(engine_lock);  ///< memory for `start` alone, so that no call allocates it
  PlanCache plans_ FAB_GUARDED_BY(engine_lock);
};

}  // namespace fab::core
