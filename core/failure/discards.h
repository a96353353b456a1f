// Receives that throw away what an erroneous peer sent, so that it does not block what comes after it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "core/base/engine_lock.h"
#include "core/peers/peers.h"
#include "core/progress/engine.h"
#include "core/wire/frame.h"
#include "core/wire/match_tag.h"
#include "core/wire/message_parts.h"

namespace fab::core {

/// Guarded by the engine's lock. Used only after ranks were found to disagree, so it may allocate.
class Discards {
 public:
  Discards(Engine& engine, const TagFormat& tags) : engine_(engine), tags_(tags) {}

  /// Receives and drops a message (its first part and, as its frame says, the others). `tag` is that of the first part.
  void message(const Peer& peer, std::uint64_t tag) FAB_REQUIRES(engine_lock);
  /// Receives and drops those of a message's later parts that no receive expects. `tag` is that of the first part.
  void later_parts(const Peer& peer, std::uint64_t tag, std::span<const MessagePart> coming,
                   std::span<const MessagePart> expected) FAB_REQUIRES(engine_lock);

 private:
  struct Discard : Post {
    Discard(Discards& owner, const Peer& peer, std::uint64_t tag, std::uint64_t bytes, bool first_part);

    Discards& owner;
    const Peer& peer;
    std::uint64_t tag;
    std::uint64_t bytes;
    bool first_part;
    std::unique_ptr<std::byte[]> memory;
  };

  void start(const Peer& peer, std::uint64_t tag, std::uint64_t bytes, bool first_part) FAB_REQUIRES(engine_lock);
  bool post(Discard& discard) FAB_REQUIRES(engine_lock);
  void arrived(Discard& discard, std::uint64_t bytes, std::uint64_t tag) FAB_REQUIRES(engine_lock);
  void forget(const Discard& discard) FAB_REQUIRES(engine_lock);

  Engine& engine_;
  const TagFormat& tags_;
  std::list<Discard> discards_ FAB_GUARDED_BY(engine_lock);
};

}  // namespace fab::core
