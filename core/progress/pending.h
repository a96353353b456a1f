// A pending operation, for which a request stands: a run of a plan, or a message.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/engine_lock.h"
#include "core/base/linked.h"
#include "core/progress/urgency.h"
#include "fab/error.h"
#include "fab/message.h"

namespace fab::core {

class Membership;
struct CallScope;
struct Peer;

/// What a caller that only tests something has seen of it (watch_tested).
struct Tested {
  std::uint64_t looked_at = 0;                    ///< ticks() of the last look; 0: never
  std::uint64_t seen = 0;                         ///< settled_count() then
  std::chrono::steady_clock::time_point since{};  ///< nothing has happened, as far as looks tell
};

/// Something that a caller can wait for. Guarded by the engine's lock, except done() and, once done, status() and
/// message(). Its holder holds the communicator, too. The engine lists those that are active.
class Pending : public Linked {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  /// Of a receive that succeeded.
  [[nodiscard]] const MessageInfo& message() const noexcept { return message_; }
  /// How often something of it has happened: tells a slow one from a stuck one.
  [[nodiscard]] std::uint64_t settled_count() const noexcept { return settled_count_.load(std::memory_order_relaxed); }

  /// Of the communicator that it belongs to.
  [[nodiscard]] virtual Membership& membership() const noexcept = 0;
  /// The call that started it.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// What it waits for, for people.
  [[nodiscard]] virtual std::string describe_pending() const FAB_REQUIRES(engine_lock) = 0;
  /// Ends it early. done() follows once nothing writes to the caller's memory any more; sends may stay in flight.
  virtual void abandon(const Status& reason) FAB_REQUIRES(engine_lock) = 0;
  /// Ends it early if no other rank has to do with it yet: a receive that nothing has matched.
  virtual void cancel() FAB_REQUIRES(engine_lock) {}

  // For losses.

  using PeerVisitor = std::function<void(const Peer&)>;
  /// The peers that it waits for, perhaps some more than once.
  virtual void visit_peers(const PeerVisitor& /*visit*/) const FAB_REQUIRES(engine_lock) {}
  /// Nothing more will come from, or go to, this peer.
  virtual void peer_lost(const Peer& /*peer*/, const Status& /*reason*/) FAB_REQUIRES(engine_lock) {}
  /// Any one of those peers ends it, and not all of them.
  [[nodiscard]] virtual bool waits_for_any() const noexcept FAB_REQUIRES(engine_lock) { return false; }
  /// Of its communicator; null once the user's handle is gone.
  [[nodiscard]] virtual CallScope* held_scope() const noexcept FAB_REQUIRES(engine_lock) = 0;
  /// Ends it early, by this rank's fault.
  virtual void abandon_for(Rank /*failed_rank*/, const Status& reason) FAB_REQUIRES(engine_lock) { abandon(reason); }
  /// It has failed, or was abandoned, and ends as soon as providers have given back what they were given.
  [[nodiscard]] virtual bool given_up() const noexcept FAB_REQUIRES(engine_lock) { return false; }

  /// A caller knows that it is over. Needs no lock.
  virtual void over(bool /*took_long*/) noexcept {}
  /// The peer by whose message, or for whose, something of it has happened last; null: none, or it is not known. Needs
  /// no lock.
  [[nodiscard]] virtual Peer* last_peer() const noexcept { return nullptr; }
  /// A caller has waited for it for so long, not counting its first polls. Returns the one peer that this can have been
  /// for; null: there are several, or it is not known.
  virtual Peer* waited(std::uint64_t ns) noexcept FAB_REQUIRES(engine_lock) = 0;
  /// A caller waits, and nothing happens: looks whether anything ever will.
  virtual void stalled() FAB_REQUIRES(engine_lock) {}
  /// All ranks of the communicator have to do the same.
  [[nodiscard]] virtual bool is_collective() const noexcept { return false; }
  /// The user's handle is gone.
  virtual void let_go() noexcept FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~Pending() = default;

  void count_settled() noexcept { settled_count_.store(settled_count() + 1, std::memory_order_relaxed); }

  std::atomic<bool> done_{true};

 public:
  // What every start uses comes first: see Run.

  /// Set before it becomes active, or by Engine::raise_urgency().
  Urgency urgency FAB_GUARDED_BY(engine_lock) = Urgency::peers;
  std::uint64_t number FAB_GUARDED_BY(engine_lock) = 0;  ///< counts what became active, from 1 on
  /// What losses.cpp has seen of it, and done, while it is active.
  std::chrono::steady_clock::time_point quiet_since FAB_GUARDED_BY(engine_lock) = {};  ///< zero: not seen yet

 private:
  std::atomic<std::uint64_t> settled_count_{0};

 protected:
  Status status_;
  MessageInfo message_;

 public:
  Tested tested;  ///< the caller's

  // For losses.cpp, as quiet_since.
  std::uint64_t settled_when_seen FAB_GUARDED_BY(engine_lock) = 0;
  bool given_up_when_seen FAB_GUARDED_BY(engine_lock) = false;
  int quiet_looks FAB_GUARDED_BY(engine_lock) = 0;
  int drops FAB_GUARDED_BY(engine_lock) = 0;
};

}  // namespace fab::core
