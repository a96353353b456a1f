// Failure notices, which a rank whose run has failed sends in place of the messages that it owes: a rank that waits for
// one of them, directly or at the end of a chain of ranks, learns which rank failed.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "core/base/engine_lock.h"
#include "core/peers/peers.h"
#include "core/wire/frame.h"

namespace fab::core {

/// Guarded by the engine's lock. Used only after failures, so it may allocate.
class Notices {
 public:
  explicit Notices(Engine& engine) : engine_(engine) {}

  /// In place of a message. Counts as active until it has left.
  void send(const Peer& peer, std::uint64_t tag, const FailureNotice& notice) FAB_REQUIRES(engine_lock);
  /// Notices to this rank of the job may never leave: no run waits for them any more.
  void rank_lost(Rank world_rank) FAB_REQUIRES(engine_lock);

 private:
  struct Notice : Post {
    Notice(Notices& owner, const Peer& peer, std::uint64_t tag, const FailureNotice& notice);

    Notices& owner;
    const Peer& peer;
    std::uint64_t tag;
    bool active = true;
    std::array<std::byte, FrameHead::kBytes> memory;
  };

  bool post(Notice& notice) FAB_REQUIRES(engine_lock);
  void forget(const Notice& notice) FAB_REQUIRES(engine_lock);

  Engine& engine_;
  std::list<Notice> notices_ FAB_GUARDED_BY(engine_lock);
};

}  // namespace fab::core
