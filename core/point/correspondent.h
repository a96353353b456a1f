// This rank's end of the point-to-point traffic with another rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/peers/peers.h"
#include "core/point/envelope.h"
#include "core/progress/engine.h"

namespace fab::core {

class PointToPoint;
class SendOperation;
struct Correspondent;

/// A message that no receive has taken yet.
struct Unexpected {
  Correspondent* correspondent = nullptr;
  Envelope envelope;
  std::unique_ptr<std::byte[]> bytes;  ///< of an eager one
};

/// An envelope on its way to a peer.
struct OutgoingEnvelope : Post {
  OutgoingEnvelope(PointToPoint& its_owner, const Handlers& handlers, bool with_bytes)
      : Post(handlers),
        owner(its_owner),
        is_long(with_bytes),
        memory(new std::byte[with_bytes ? kEnvelopeBytes : sizeof(Envelope)]) {}

  PointToPoint& owner;
  Correspondent* correspondent FAB_GUARDED_BY(engine_lock) = nullptr;
  SendOperation* senders FAB_GUARDED_BY(engine_lock) = nullptr;  ///< are complete when this has left, the last first
  /// Their sender need not keep the bytes behind it any longer.
  void keep_bytes() FAB_REQUIRES(engine_lock) {
    kept.assign(behind.begin(), behind.end());
    behind = kept;
  }

  std::size_t bytes FAB_GUARDED_BY(engine_lock) = 0;        ///< in `memory`
  std::span<std::byte> behind FAB_GUARDED_BY(engine_lock);  ///< more of them, in their sender's memory
  std::vector<std::byte> kept FAB_GUARDED_BY(engine_lock);
  bool active FAB_GUARDED_BY(engine_lock) = false;  ///< counted by the engine
  bool is_long;                                     ///< has room for kEnvelopeBytes, otherwise for an envelope alone
  std::unique_ptr<std::byte[]> memory;
};

/// A receive of any envelope, always posted: from one peer of the node, or from any rank through the network.
struct IncomingEnvelope : Post {
  IncomingEnvelope(PointToPoint& its_owner, const Handlers& handlers, Provider& its_provider,
                   Correspondent* its_correspondent)
      : Post(handlers),
        owner(its_owner),
        provider(its_provider),
        correspondent(its_correspondent),
        memory(new std::byte[kEnvelopeBytes]) {}

  PointToPoint& owner;
  Provider& provider;
  Correspondent* correspondent;  ///< null: from any rank
  bool posting FAB_GUARDED_BY(engine_lock) = false;
  bool arrived FAB_GUARDED_BY(engine_lock) = false;  ///< while posting
  std::size_t bytes FAB_GUARDED_BY(engine_lock) = 0;
  int failures FAB_GUARDED_BY(engine_lock) = 0;
  /// The bytes behind the envelope, which came straight to the receive that takes them; null: they are in `memory`.
  const std::byte* placed FAB_GUARDED_BY(engine_lock) = nullptr;
  std::unique_ptr<std::byte[]> memory;
};

struct Correspondent {
  Rank world_rank = 0;
  Peer* peer = nullptr;  ///< null: this rank itself
  bool is_far = false;   ///< through the network
  std::uint32_t next_sent FAB_GUARDED_BY(engine_lock) = 0;
  std::uint32_t next_expected FAB_GUARDED_BY(engine_lock) = 0;
  int credits FAB_GUARDED_BY(engine_lock) = kWindow;               ///< for messages that travel with their envelopes
  int owed FAB_GUARDED_BY(engine_lock) = 0;                        ///< credits that the peer may have back
  OutgoingEnvelope* bundle FAB_GUARDED_BY(engine_lock) = nullptr;  ///< that further messages join (bundles.h)
  int burst FAB_GUARDED_BY(engine_lock) = 0;                       ///< short messages since
  std::uint64_t burst_began FAB_GUARDED_BY(engine_lock) = 0;       ///< so many polls of the engine
  /// Messages that came before others, by sequence.
  std::map<std::uint32_t, Unexpected> overtakers FAB_GUARDED_BY(engine_lock);
  std::vector<std::uint32_t> withdrawn FAB_GUARDED_BY(engine_lock);        ///< of offers that have not come yet
  std::vector<Post*> waiting FAB_GUARDED_BY(engine_lock);                  ///< until the peer's address is known
  std::unique_ptr<IncomingEnvelope> listener FAB_GUARDED_BY(engine_lock);  ///< of a peer of the node
  Status failure FAB_GUARDED_BY(engine_lock);                              ///< not ok: nothing gets through any more
  Rank failed_rank FAB_GUARDED_BY(engine_lock) = kNoRank;                  ///< then: by whose end, if that is known
};

}  // namespace fab::core
