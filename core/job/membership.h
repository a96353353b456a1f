// The ranks of a communicator, and the id that separates its messages from those of others.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/engine_lock.h"
#include "core/failure/call_scope.h"
#include "core/job/group.h"
#include "core/job/ledger.h"
#include "core/job/runtime.h"
#include "core/topology/node_map.h"
#include "core/wire/frame.h"
#include "fab/schedule.h"

namespace fab::core {

class MatchQueues;

/// A communicator as its plans, runs and messages see it. What changes after construction is guarded by the engine's
/// lock.
class Membership : public std::enable_shared_from_this<Membership> {
 public:
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  [[nodiscard]] Runtime& runtime() const noexcept { return runtime_; }
  [[nodiscard]] Engine& engine() const noexcept { return runtime_.engine(); }
  [[nodiscard]] Rank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return group_.size(); }
  [[nodiscard]] Rank world_rank(Rank rank) const { return group_.world_rank(rank); }
  /// Looks at all ranks.
  [[nodiscard]] bool has_member(Rank world_rank) const;
  /// All ranks reach each other through shared memory; all think the same.
  [[nodiscard]] bool is_on_one_node() const;
  /// Which of its ranks share a node; null where all do, none do, or the launcher does not tell. All ranks think the
  /// same. The first call asks the launcher, if the job has several nodes. From any thread.
  [[nodiscard]] const NodeMap* nodes() const;

  [[nodiscard]] bool has_context_id() const noexcept FAB_REQUIRES(engine_lock) { return scope_.id.has_value(); }
  /// Precondition: has_context_id().
  [[nodiscard]] ContextId context_id() const noexcept FAB_REQUIRES(engine_lock) { return *scope_.id; }
  [[nodiscard]] std::uint64_t context_tag() const noexcept FAB_REQUIRES(engine_lock) { return context_tag_; }
  /// Why no id can be had; null unless that is so.
  [[nodiscard]] const Status* refusal() const noexcept FAB_REQUIRES(engine_lock) {
    return refusal_.ok() ? nullptr : &refusal_;
  }
  /// Of the messages to this rank, for PointToPoint alone: null until it is asked for one.
  [[nodiscard]] MatchQueues*& match_queues() noexcept FAB_REQUIRES(engine_lock) { return match_queues_; }
  [[nodiscard]] CallScope& scope() noexcept FAB_REQUIRES(engine_lock) { return scope_; }
  /// Its name in statistics.
  [[nodiscard]] const Ledger::Communicator& in_ledger() const noexcept { return in_ledger_; }
  [[nodiscard]] CallWord call_word(const Schedule& schedule) const noexcept FAB_REQUIRES(engine_lock);

  /// One of the runs in flight has ended.
  void run_finished() noexcept FAB_REQUIRES(engine_lock) { --in_flight_; }

 protected:
  /// `runtime` outlives this. Without an id calls can be started but wait for name().
  Membership(Runtime& runtime, Group group, Rank rank, std::optional<ContextId> id);
  virtual ~Membership();

  void name(ContextId id) noexcept FAB_REQUIRES(engine_lock);
  void refuse(const Status& reason) FAB_REQUIRES(engine_lock) { refusal_ = reason; }
  [[nodiscard]] std::uint64_t in_flight() const noexcept FAB_REQUIRES(engine_lock) { return in_flight_; }
  void run_started() noexcept FAB_REQUIRES(engine_lock) { ++in_flight_; }

 private:
  [[nodiscard]] std::shared_ptr<const NodeMap> find_nodes() const;

  Runtime& runtime_;
  const Group group_;
  const Rank rank_;
  Ledger::Communicator& in_ledger_;
  CallScope scope_ FAB_GUARDED_BY(engine_lock);
  std::uint64_t context_tag_ FAB_GUARDED_BY(engine_lock) = 0;
  Status refusal_ FAB_GUARDED_BY(engine_lock);
  MatchQueues* match_queues_ FAB_GUARDED_BY(engine_lock) = nullptr;
  std::uint64_t in_flight_ FAB_GUARDED_BY(engine_lock) = 0;
  mutable std::once_flag nodes_looked_up_;
  mutable std::shared_ptr<const NodeMap> nodes_;
};

}  // namespace fab::core
