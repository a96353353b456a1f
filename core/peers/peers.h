// The processes that this one communicates with, each looked up on first use.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/bootstrap/store.h"
#include "core/peers/inbox.h"
#include "core/peers/transports.h"
#include "core/progress/engine.h"
#include "core/wire/match_tag.h"
#include "fab/statistics.h"

namespace fab::core {

struct Lifeline;

/// Another process of the job (or this one), and the way to it.
struct Peer {
  enum class State { looking_up, ready, failed };

  Rank world_rank = 0;
  State state FAB_GUARDED_BY(engine_lock) = State::looking_up;
  Provider* provider = nullptr;                       ///< null if failed from the start
  Inbox* inbox = nullptr;                             ///< where the provider needs one
  PeerHandle handle FAB_GUARDED_BY(engine_lock) = 0;  ///< once ready
  Status failure FAB_GUARDED_BY(engine_lock) = {};    ///< once failed
  /// Some of this rank send messages there, or expect some from there.
  bool in_schedules FAB_GUARDED_BY(engine_lock) = false;
  Lifeline* lifeline FAB_GUARDED_BY(engine_lock) =
      nullptr;  ///< of a peer that the network reaches, once ready; null: it has none
  mutable RefusedPosts refused_sends FAB_GUARDED_BY(engine_lock) = {};   ///< that the engine repeats
  std::function<void()> look_up_ended FAB_GUARDED_BY(engine_lock) = {};  ///< is called then, if there is one
  MessageAmounts received FAB_GUARDED_BY(engine_lock) = {};              ///< from rank to rank; plans count the rest
  std::uint64_t came_last FAB_GUARDED_BY(engine_lock) = 0;               ///< as PeerStatistics
  std::uint64_t waited_ns FAB_GUARDED_BY(engine_lock) = 0;

  /// Long messages travel in parts (core/wire/message_parts.h), which spares the provider messages longer than their
  /// receives.
  [[nodiscard]] bool in_parts() const noexcept {
    return provider != nullptr && !provider->capabilities().takes_longer_messages;
  }

  /// Posts a receive of a message from this peer whose tag equals `tag`, framed or not.
  [[nodiscard]] PostResult post_recv(std::span<const iovec> pieces, std::uint64_t tag, const TagFormat& tags,
                                     Completion& completion) const FAB_REQUIRES(engine_lock) {
    if (inbox != nullptr) return inbox->post_recv(handle, pieces, tag, completion);
    return provider->post_recv(handle, pieces, tag, tags.framed(), completion);
  }
};

/// Learns which peers there are.
class PeerWatcher {
 public:
  /// A peer's address is known. `lifeline_address`: what its own publish() was given.
  virtual void met(Peer& peer, std::string_view lifeline_address) FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~PeerWatcher() = default;
};

/// Guarded by the engine's lock.
class PeerTable {
 public:
  /// `inbox` is the network's; null where it needs none.
  /// `settings` are what all ranks must have alike (core/peers/settings.h).
  PeerTable(Engine& engine, Store& store, const Transports& transports, Inbox* inbox, std::string settings)
      : engine_(engine),
        store_(store),
        settings_(std::move(settings)),
        node_(transports.node.get()),
        network_(transports.network.get()),
        inbox_(inbox) {}

  /// Publishes this rank's own addresses, with that of its lifelines.
  void publish(std::string_view lifeline_address);
  /// Before publish().
  void set_watcher(PeerWatcher& watcher) noexcept { watcher_ = &watcher; }
  /// The peer with that rank of the job. The first call starts the look-up of its address, which ends some time later
  /// in a progress of the engine. The reference stays valid.
  Peer& find(Rank world_rank) FAB_REQUIRES(engine_lock);
  /// A peer that was found before.
  [[nodiscard]] Peer& known(Rank world_rank) FAB_REQUIRES(engine_lock);
  /// Visits the peers that were found, in no order.
  void visit(const std::function<void(const Peer&)>& visit) const FAB_REQUIRES(engine_lock);
  /// Reached through what only the ranks of this node share. Both ends think the same.
  [[nodiscard]] bool is_near(Rank world_rank) const;
  /// The other processes that schedules of this rank send messages to, or expect some from, unless they cannot be
  /// reached. Those have the same of this rank, in every order in which addresses come.
  [[nodiscard]] std::vector<Rank> in_schedules(Rank self) const FAB_REQUIRES(engine_lock);

 private:
  void choose_provider(Peer& peer) const FAB_REQUIRES(engine_lock);
  void look_up(Peer& peer) FAB_REQUIRES(engine_lock);
  void arrived(Peer& peer, const std::optional<std::string>& published, const std::string& reason)
      FAB_REQUIRES(engine_lock);

  Engine& engine_;
  Store& store_;
  PeerWatcher* watcher_ = nullptr;
  const std::string settings_;
  Provider* node_;
  Provider* network_;
  Inbox* inbox_;
  std::unordered_map<Rank, std::unique_ptr<Peer>> peers_ FAB_GUARDED_BY(engine_lock);
};

}  // namespace fab::core
