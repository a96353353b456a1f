// Lost ranks, which will not answer any more: the ways in which this rank learns of them, and the ranks that it tells.
//
// Sources: a provider's errors (core/run/run_failures.cpp), the ends of processes that the node's provider watches, the
// lifelines of network peers, on which living ranks also tell of connections that they have cut, and what other ranks
// tell. While nothing is pending no thread looks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/failure/call_scope.h"
#include "core/failure/lifelines.h"
#include "core/failure/notices.h"
#include "core/peers/peers.h"
#include "core/progress/engine.h"
#include "core/wire/frame.h"

namespace fab::core {

/// Of an operation that this rank has not taken back: a provider that says so has lost the connection.
[[nodiscard]] Status not_taken_back(const Status& status);

/// Learns of losses beyond what is in flight (point to point). Guarded by the engine's lock.
class LossListener {
 public:
  /// Nothing more will come from, or go to, this rank of the job.
  virtual void peer_lost(Rank world_rank, const Status& reason) FAB_REQUIRES(engine_lock) = 0;
  /// What is on its way there may never leave: no operation waits for it any more.
  virtual void give_up_envelopes(Rank world_rank) FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~LossListener() = default;
};

/// Guarded by the engine's lock.
class Losses final : public Lookout, public PeerWatcher {
 public:
  Losses(const Config& config, const Log& log, const JobInfo& job, const Transports& transports, Engine& engine,
         PeerTable& peers, Notices& notices);
  /// Null: there is none.
  void set_listener(LossListener* listener) noexcept { listener_ = listener; }

  /// Of this rank's lifelines, for its peers; empty: it has none.
  [[nodiscard]] std::string address() const FAB_REQUIRES(engine_lock) {
    return lifelines_ == nullptr ? std::string() : lifelines_->address();
  }
  /// There is something to look at.
  [[nodiscard]] bool can_look() const noexcept FAB_REQUIRES(engine_lock);
  void met(Peer& peer, std::string_view lifeline_address) override FAB_REQUIRES(engine_lock);

  std::size_t look(Time now) override FAB_REQUIRES(engine_lock);
  [[nodiscard]] int idle_fd() const noexcept override FAB_REQUIRES(engine_lock) {
    return lifelines_ == nullptr ? -1 : lifelines_->port();
  }
  void answer() override FAB_REQUIRES(engine_lock);

  /// An operation with this peer failed. Returns whose fault it was: that peer's, or that of a rank which it has lost
  /// itself.
  Rank note(const Peer& peer, const Status& status) FAB_REQUIRES(engine_lock);
  /// A write of `writer` to this peer failed. Perhaps the peer lives and has taken the memory back, on which a provider
  /// may end the connection; if so, its refusal of the call tells. Returns whether that is waited for: then `write`
  /// fails as cancelled, once the refusal has ended `writer`, the peer is lost, or neither came in time.
  [[nodiscard]] bool doubt(Pending& writer, Completion& write, const Peer& peer, const Status& status)
      FAB_REQUIRES(engine_lock);
  /// What to say of it.
  [[nodiscard]] std::string explain(Rank failed_rank, const Peer& peer, const Status& status) const
      FAB_REQUIRES(engine_lock);
  /// Another rank told why it failed.
  void on_failure_notice(const FailureNotice& notice) FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool any() const noexcept FAB_REQUIRES(engine_lock) { return !losses_.empty(); }
  [[nodiscard]] bool has_lost(Rank rank) const noexcept FAB_REQUIRES(engine_lock) { return find(rank) != nullptr; }

  /// The user is told how a call has ended, on a communicator where this rank has given up one, or that it has failed,
  /// by the fault of `failed_rank` (kNoRank: no rank's). Its peers learn what they may still expect of this rank there.
  void ended(const Pending& call, CallScope& scope, Rank failed_rank) FAB_REQUIRES(engine_lock);

  /// In a child of fork(), which must not keep its parent's lines alive.
  void leave_to_parent() noexcept FAB_REQUIRES(engine_lock) {
    if (lifelines_ != nullptr) lifelines_->leave_to_parent();
  }
  /// This rank closes: those who wait for it learn that it did so in order.
  void close() FAB_REQUIRES(engine_lock);

 private:
  using Clock = std::chrono::steady_clock;

  struct Loss {
    Rank rank;
    std::string reason;
  };

  void look_at_active(Time now) FAB_REQUIRES(engine_lock);
  /// Since the last look at it, which this one is from now on.
  [[nodiscard]] static bool changed(Pending& pending) FAB_REQUIRES(engine_lock);
  /// An operation has waited for this peer for a while.
  void look_at(const Peer& peer, Time now) FAB_REQUIRES(engine_lock);
  /// Loses the peers whose processes have ended, and from which nothing has come for a while.
  void find_lost(Time now) FAB_REQUIRES(engine_lock);
  /// Loses the peers whose connection was ended while something waited for them.
  void find_cut_off() FAB_REQUIRES(engine_lock);
  void lose(Peer& peer, const std::string& reason, bool vanished) FAB_REQUIRES(engine_lock);
  /// Ends connections with peers whose messages keep an operation that was given up.
  void drop_connections(Time now) FAB_REQUIRES(engine_lock);
  /// Ends this rank's connections with a peer, or its host, whose ranks hear of it first.
  void cut(const Peer& peer, bool whole_host) FAB_REQUIRES(engine_lock);
  void declare(Rank rank, const std::string& reason) FAB_REQUIRES(engine_lock);
  [[nodiscard]] const Loss* find(Rank rank) const noexcept FAB_REQUIRES(engine_lock);
  /// Ends operations that wait for a rank which will not come, as it is lost, as others say, or has given up. Returns
  /// how many.
  std::size_t end_concerned(Time now) FAB_REQUIRES(engine_lock);
  /// By whose fault it waits in vain; kNoRank: it may yet end well.
  [[nodiscard]] Rank failed_rank_of(const Pending& pending) FAB_REQUIRES(engine_lock);
  [[nodiscard]] Rank failed_rank_of(const Peer& peer, std::uint32_t communicator) const FAB_REQUIRES(engine_lock);
  void give_up(CallScope& scope, Rank failed_rank) FAB_REQUIRES(engine_lock);
  void go_on(CallScope& scope) FAB_REQUIRES(engine_lock);
  void tell(const GivenUp& what) FAB_REQUIRES(engine_lock);
  /// Returns how many have ended.
  std::size_t end_doubts(Time now) FAB_REQUIRES(engine_lock);
  [[nodiscard]] static std::string describe(Lifeline::End end, double vanished_s);

  [[nodiscard]] Clock::duration scaled(std::chrono::milliseconds time) const noexcept {
    return std::chrono::duration_cast<Clock::duration>(time * scale_);
  }

  const Log& log_;
  const JobInfo& job_;
  const Transports& transports_;
  Engine& engine_;
  PeerTable& peers_;
  Notices& notices_;
  LossListener* listener_ = nullptr;
  const double vanished_s_;  ///< FAB_PEER_TIMEOUT
  const double scale_;       ///< of all other times
  std::unique_ptr<Lifelines> lifelines_ FAB_PT_GUARDED_BY(engine_lock);
  Time next_look_ FAB_GUARDED_BY(engine_lock) = {};
  std::vector<Loss> losses_ FAB_GUARDED_BY(engine_lock);
  int given_up_ FAB_GUARDED_BY(engine_lock) = 0;  ///< communicators
  struct Doubt {
    Pending* writer;
    Completion* write;
    Rank peer;  ///< of the job
    std::string message;
    Time since;  ///< the first look at it; zero: there was none
  };
  std::vector<Doubt> doubts_ FAB_GUARDED_BY(engine_lock);
  // Of one look.
  std::vector<Pending*> quiet_ FAB_GUARDED_BY(engine_lock);
  struct Lost {
    Peer* peer;
    Lifeline::End end;  ///< none: the rank lives, but what was on its way from it is lost
  };
  std::vector<Lost> lost_ FAB_GUARDED_BY(engine_lock);
};

}  // namespace fab::core
