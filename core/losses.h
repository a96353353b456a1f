// Ranks that will not answer any more: how this rank learns of them, and who else hears of it.
//
// Sources: a provider's errors (core/run_failures.cpp), the ends of processes that the node's provider watches, the
// lifelines of network peers, and what other ranks tell. While nothing is pending nobody looks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/engine.h"
#include "core/frame.h"
#include "core/lifelines.h"
#include "core/peers.h"

namespace fab::core {

class Context;

/// Of an operation that nobody has taken back: a provider that says so has lost the connection.
[[nodiscard]] Status not_taken_back(const Status& status);

/// Guarded by the engine's lock.
class Losses final : public Lookout {
 public:
  explicit Losses(Context& context);

  /// Of this rank's lifelines, for its peers; empty: it has none.
  [[nodiscard]] std::string address() const { return lifelines_ == nullptr ? std::string() : lifelines_->address(); }
  /// There is something to look at.
  [[nodiscard]] bool can_look() const noexcept;
  /// A peer's address is known.
  void met(Peer& peer, std::string_view lifeline_address);

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

  void find_quiet(Time now);
  /// Somebody waits for this peer.
  void look_at(const Peer& peer, Time quiet_since, Time now);
  void lose(Peer& peer, const std::string& reason, bool vanished);
  /// Ends connections with peers whose messages keep somebody that was given up.
  void drop_connections(Time now);
  void declare(Rank rank, const std::string& reason);
  [[nodiscard]] const Loss* find(Rank rank) const noexcept;
  /// Who waits among others of which one was lost may wait for somebody who has given up. Returns how many were ended.
  std::size_t end_concerned(Time now);
  [[nodiscard]] static std::string describe(Lifeline::End end, double vanished_s);

  Context& context_;
  std::unique_ptr<Lifelines> lifelines_;
  Time next_look_{};
  std::vector<Loss> losses_;
  // Of one look.
  std::vector<Pending*> quiet_;
  struct Lost {
    Peer* peer;
    Lifeline::End end;
  };
  std::vector<Lost> lost_;
};

}  // namespace fab::core
