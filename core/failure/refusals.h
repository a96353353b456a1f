// Calls that a rank refused because of their arguments: it tells its peers, which would otherwise wait for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/engine_lock.h"
#include "core/progress/engine.h"
#include "core/wire/match_tag.h"

namespace fab::core {

/// A call's place in the order of its communicator; unequal in a job for all calls there ever are.
struct CallPlace {
  ContextId communicator;
  std::uint64_t number = 0;  ///< Communicator::persistent_place for persistent exchanges

  [[nodiscard]] auto key() const noexcept { return std::tuple(communicator.owner, communicator.number, number); }
};

/// What a rank refused, for the peers that ask, and what peers refused, for those who wait for them here. A rank that
/// waits for a peer, and nothing happens, asks it once for all; from then on it is told of what that peer has refused
/// and will refuse. A rank that does not ask is not told, so errors that all ranks see cost nothing, and what never
/// fails costs nothing either. Questions and answers travel as point-to-point envelopes do. Guarded by the engine's
/// lock.
class Refusals {
 public:
  /// Nothing has happened for so long where a rank waits, so it asks.
  static constexpr std::chrono::milliseconds kAskAfter{250};

  /// Brings questions and answers to other ranks (point to point).
  class Courier {
   public:
    /// This rank waits for that one, and wants to know which calls it refuses.
    virtual void ask_refusals(Rank world_rank) FAB_REQUIRES(engine_lock) = 0;
    virtual void tell_refusal(Rank world_rank, const CallPlace& place, std::string_view reason)
        FAB_REQUIRES(engine_lock) = 0;
    /// From now on questions are heard, also those of ranks of the node that nothing was sent to yet.
    virtual void listen_to_node() FAB_REQUIRES(engine_lock) = 0;

   protected:
    ~Courier() = default;
  };

  struct Refusal {
    Rank rank = 0;  ///< of the job
    std::string reason;
  };

  /// `self`: this rank of the job. `courier` is called when something has to be said.
  Refusals(Engine& engine, Rank self, std::function<Courier&()> courier)
      : engine_(engine), self_(self), courier_(std::move(courier)) {}

  /// This rank has refused a call. From now on it listens, in the progress thread while no caller is in fab.
  void add(const CallPlace& place, const std::string& reason) FAB_REQUIRES(engine_lock);
  /// A peer is waited for, and does nothing.
  void ask(Rank world_rank) FAB_REQUIRES(engine_lock);
  /// What a peer has told about a call; null: nothing.
  [[nodiscard]] const Refusal* find(const CallPlace& place) const FAB_REQUIRES(engine_lock);

  /// Before closing, which waits for all that is active.
  void stop_listening() FAB_REQUIRES(engine_lock);
  /// The ranks that have asked: they wait, or waited, for this one, also where it refused what they called.
  [[nodiscard]] const std::set<Rank>& askers() const noexcept FAB_REQUIRES(engine_lock) { return askers_; }

  // What comes.
  void asked_by(Rank world_rank) FAB_REQUIRES(engine_lock);
  void told_by(Rank world_rank, const CallPlace& place, std::span<const char> reason) FAB_REQUIRES(engine_lock);

 private:
  /// The oldest are forgotten: who waits asks soon.
  static constexpr std::size_t kMost = 1024;
  struct Own {
    CallPlace place;
    std::string reason;
  };

  void tell(Rank world_rank, const Own& own) FAB_REQUIRES(engine_lock);

  Engine& engine_;
  const Rank self_;
  const std::function<Courier&()> courier_;
  bool listening_ FAB_GUARDED_BY(engine_lock) = false;
  std::deque<Own> own_ FAB_GUARDED_BY(engine_lock);
  std::set<Rank> asked_ FAB_GUARDED_BY(engine_lock);
  std::set<Rank> askers_ FAB_GUARDED_BY(engine_lock);
  std::map<decltype(CallPlace().key()), Refusal> told_ FAB_GUARDED_BY(engine_lock);
};

}  // namespace fab::core
