// What a rank whose run has failed sends in place of the messages that it owes: whoever waits for one of them, directly
// or at the end of a chain of ranks, learns whose fault it was.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "core/peers/peers.h"
#include "core/wire/frame.h"

namespace fab::core {

/// Guarded by the engine's lock. Used only after failures, so it may allocate.
class Notices {
 public:
  explicit Notices(Engine& engine) : engine_(engine) {}

  /// In place of a message. Counts as active until it has left.
  void send(const Peer& peer, std::uint64_t tag, const FailureNotice& notice);
  /// Those to this rank of the job may never leave: nobody waits for them any more.
  void rank_lost(Rank world_rank);

 private:
  struct Notice : Post {
    Notice(Notices& owner, const Peer& peer, std::uint64_t tag, const FailureNotice& notice);

    Notices& owner;
    const Peer& peer;
    std::uint64_t tag;
    bool active = true;
    std::array<std::byte, FrameHead::kBytes> memory;
  };

  bool post(Notice& notice);
  void forget(const Notice& notice);

  Engine& engine_;
  std::list<Notice> notices_;
};

}  // namespace fab::core
