// A group of ranks, an id that separates its traffic, and at most one topology.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/communicator/call_check.h"
#include "core/communicator/plan_cache.h"
#include "core/job/group.h"
#include "core/run/run.h"
#include "core/wire/frame.h"
#include "core/wire/match_tag.h"
#include "fab/topology.h"

namespace fab::core {

class Context;
class Engine;

/// What changes after construction is guarded by the engine's lock.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// Without an id calls can be started but wait for set_context_id.
  Communicator(std::shared_ptr<Context> context, Group group, Rank rank, std::optional<ContextId> id);
  ~Communicator();

  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] Engine& engine() const noexcept;
  [[nodiscard]] Rank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return group_.size(); }
  [[nodiscard]] Rank world_rank(Rank rank) const { return group_.world_rank(rank); }
  /// Looks at all ranks.
  [[nodiscard]] bool has_member(Rank world_rank) const;

  /// At most once, before any call.
  void set_topology(Topology topology);
  [[nodiscard]] const Topology* topology() const noexcept { return topology_ ? &*topology_ : nullptr; }
  /// The edges of this rank; empty without a topology.
  [[nodiscard]] const Neighborhood& neighborhood() const noexcept { return neighborhood_; }

  [[nodiscard]] bool has_context_id() const noexcept { return id_.has_value(); }
  /// Precondition: has_context_id().
  [[nodiscard]] ContextId context_id() const noexcept { return *id_; }
  /// From any thread, without the engine's lock.
  void set_context_id(ContextId id);
  /// No id can be had: calls that wait for one, and later ones, fail for this reason. As set_context_id.
  void refuse_context_id(Status reason);
  /// Null unless refused.
  [[nodiscard]] const Status* refusal() const noexcept { return refusal_.ok() ? nullptr : &refusal_; }
  [[nodiscard]] std::uint64_t context_tag() const noexcept { return context_tag_; }
  /// All ranks reach each other through shared memory; all think the same.
  [[nodiscard]] bool is_on_one_node() const;
  [[nodiscard]] CallWord call_word(const Schedule& schedule) const noexcept;

  /// Of the schedules that run on this communicator. Within a node a message costs less than copying blocks
  /// together: none are combined.
  [[nodiscard]] CommitOptions commit_options() const;

  /// An empty shape to fill in, in memory that is used again and again. Under the engine's lock.
  CallShape& shape_for(std::uint64_t call) {
    shape_.reset(call);
    return shape_;
  }
  /// Starts the plan of the shape that was filled in last; `build` makes its schedule when there is none yet. Under the
  /// engine's lock. All ranks of the communicator start their calls in the same order. `user` is what ReduceOp::user
  /// calls, `words` what it is called where calls are compared (CalledAs); empty: by the name of its schedule.
  template <class Build>
  Run& start(std::span<std::byte* const> bases, Build&& build, const UserReduction& user = {},
             const std::string& words = {}) {
    if (Plan* plan = plans_.find_expected(shape_)) return start(*plan, bases, user, words);
    const std::uint64_t hash = shape_.hash();
    if (Plan* plan = plans_.find(shape_, hash)) return start(*plan, bases, user, words);
    auto plan = std::make_unique<Plan>(*this, build());
    if (!plans_.keeps_plans()) return start(std::move(plan), bases, user, words);
    return start(plans_.store(shape_, hash, std::move(plan)), bases, user, words);
  }
  Run& start(Plan& plan, std::span<std::byte* const> bases, const UserReduction& user = {},
             const std::string& words = {});
  /// Of a plan that ends with this run.
  Run& start(std::unique_ptr<Plan> plan, std::span<std::byte* const> bases, const UserReduction& user = {},
             const std::string& words = {});
  /// Called while an exception is handled: the call that it ends was refused, and uses up its place (refused_call.h).
  enum class Order : std::uint8_t { calls, lasting };
  void call_refused(Order order) noexcept;
  /// CallPlace::number of a persistent exchange.
  [[nodiscard]] static constexpr std::uint64_t lasting_place(std::uint64_t number) noexcept {
    return number | 1ull << 63;
  }
  /// Ranks compare what they call before they do it.
  [[nodiscard]] bool compares_calls() const noexcept { return compares_calls_; }
  /// Before the first call: not all of them make each call.
  void compare_no_calls() noexcept { compares_calls_ = false; }
  void drop(const Plan& plan) noexcept { plans_.drop(plan); }

  /// The one run of a persistent exchange, to be given back. All ranks of the communicator make theirs in the same
  /// order. Throws Error(no_resources) when as many last as tags can tell apart.
  [[nodiscard]] Run& make_lasting(Schedule schedule, std::span<std::byte* const> bases, const UserReduction& user = {},
                                  const std::string& words = {});
  void give_back_lasting(Run& run) noexcept;
  /// Throws Error(cancelled) when the context is closed.
  void start_lasting(Run& run);
  void run_finished() noexcept { --in_flight_; }
  /// By whose fault this rank has given up a call here, and started none since that ended well (Losses).
  [[nodiscard]] Rank given_up_for() const noexcept { return given_up_for_; }
  void give_up_for(Rank culprit) noexcept { given_up_for_ = culprit; }
  [[nodiscard]] std::size_t cached_plans() const noexcept { return plans_.size(); }
  [[nodiscard]] std::size_t retired_plans() const noexcept { return plans_.retired(); }

 private:
  std::shared_ptr<Context> context_;
  Group group_;
  Rank rank_;
  std::optional<Topology> topology_;
  Neighborhood neighborhood_;
  std::optional<ContextId> id_;
  std::uint64_t context_tag_ = 0;
  Status refusal_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t in_flight_ = 0;
  Rank given_up_for_ = kNoRank;
  std::uint64_t next_lasting_ = 0;
  std::uint64_t lasting_ = 0;
  bool call_again_ = false;  ///< the exception on its way says that the same call may be made later
  std::uint64_t calls_ = 0;  ///< counted where they are compared
  /// By their places.
  using RefusedCalls = std::vector<std::pair<std::uint64_t, std::string>>;
  RefusedCalls refused_;  ///< until there is an id; somebody has to drive meanwhile
  bool compares_calls_;
  std::unique_ptr<CallCheck> call_check_;  ///< from the first call on that is compared
  void check_open(const Plan& plan) const;
  [[nodiscard]] Run& compare(const CalledAs& call);
  /// Starts the comparison, after which, and with whose end, the run goes on.
  void compare(const CalledAs& call, Run& run);
  void refuse(std::uint64_t place, const std::string& reason);
  [[nodiscard]] RefusedCalls take_refused();
  friend class OneSided;
  /// For the persistent exchange of that number.
  void make_contact(const Plan& plan, std::uint64_t number);
  [[nodiscard]] Run& make_retired(Schedule schedule, Plan::Use use, std::span<std::byte* const> bases,
                                  std::uint64_t sequence_tag, const UserReduction& user = {});

  CallShape shape_;
  PlanCache plans_;
};

}  // namespace fab::core
