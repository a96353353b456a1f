// Ranks that will not answer any more: how this rank learns of them, and who else hears of it.
//
// Sources: a provider's errors (core/run/run_failures.cpp), the ends of processes that the node's provider watches, the
// lifelines of network peers, and what other ranks tell. While nothing is pending nobody looks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/failure/call_scope.h"
#include "core/failure/lifelines.h"
#include "core/failure/notices.h"
#include "core/peers/peers.h"
#include "core/progress/engine.h"
#include "core/wire/frame.h"

namespace fab::core {

/// Of an operation that nobody has taken back: a provider that says so has lost the connection.
[[nodiscard]] Status not_taken_back(const Status& status);

/// Learns of losses beyond what is in flight (point to point). Guarded by the engine's lock.
class LossListener {
 public:
  /// Nothing more will come from, or go to, this rank of the job.
  virtual void peer_lost(Rank world_rank, const Status& reason) = 0;
  /// What is on its way there may never leave: nobody waits for it any more.
  virtual void give_up_envelopes(Rank world_rank) = 0;

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
  [[nodiscard]] std::string address() const { return lifelines_ == nullptr ? std::string() : lifelines_->address(); }
  /// There is something to look at.
  [[nodiscard]] bool can_look() const noexcept;
  void met(Peer& peer, std::string_view lifeline_address) override;

  std::size_t look(Time now) override;
  [[nodiscard]] int idle_fd() const noexcept override { return lifelines_ == nullptr ? -1 : lifelines_->port(); }
  void answer() override;

  /// An operation with this peer failed. Returns whose fault it was: that peer's, or that of a rank which it has lost
  /// itself.
  Rank note(const Peer& peer, const Status& status);
  /// What to say of it.
  [[nodiscard]] std::string explain(Rank culprit, const Peer& peer, const Status& status) const;
  /// Another rank told why it failed.
  void heard_of(const FailureNotice& notice);
  [[nodiscard]] bool any() const noexcept { return !losses_.empty(); }
  [[nodiscard]] bool has_lost(Rank rank) const noexcept { return find(rank) != nullptr; }

  /// The user is told how a call has ended, on a communicator where this rank has given up one, or that it has failed,
  /// by the fault of `culprit` (kNoRank: nobody's). Its peers learn what they may still expect of this rank there.
  void ended(const Pending& call, CallScope& scope, Rank culprit);

  /// In a child of fork(), which must not keep its parent's lines alive.
  void leave_to_parent() noexcept {
    if (lifelines_ != nullptr) lifelines_->leave_to_parent();
  }
  /// This rank closes: those who wait for it learn that it did so in order.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  struct Loss {
    Rank rank;
    std::string reason;
  };

  void look_at_active(Time now);
  /// Somebody has waited for this peer for a while.
  void look_at(const Peer& peer, Time now);
  /// Those that have ended, and from which nothing has come for a while.
  void find_lost(Time now);
  void lose(Peer& peer, const std::string& reason, bool vanished);
  /// Ends connections with peers whose messages keep somebody that was given up.
  void drop_connections(Time now);
  void declare(Rank rank, const std::string& reason);
  [[nodiscard]] const Loss* find(Rank rank) const noexcept;
  /// Ends what waits for somebody who will not come: who is lost, as others say, or has given up. Returns how many.
  std::size_t end_concerned(Time now);
  /// By whose fault it waits in vain; kNoRank: it may yet end well.
  [[nodiscard]] Rank culprit_of(const Pending& pending);
  [[nodiscard]] Rank culprit_of(const Peer& peer, std::uint32_t communicator) const;
  void give_up(CallScope& scope, Rank culprit);
  void go_on(CallScope& scope);
  void tell(const GivenUp& what);
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
  std::unique_ptr<Lifelines> lifelines_;
  Time next_look_{};
  std::vector<Loss> losses_;
  int given_up_ = 0;  ///< communicators
  // Of one look.
  std::vector<Pending*> quiet_;
  struct Lost {
    Peer* peer;
    Lifeline::End end;
  };
  std::vector<Lost> lost_;
};

}  // namespace fab::core
