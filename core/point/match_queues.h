// Matches messages and receives of one communicator.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/point/correspondent.h"
#include "core/point/own_tag.h"

namespace fab::core {

/// Whether a receive or probe from there may take the message.
[[nodiscard]] inline bool matches(const Source& from, const Envelope& envelope) noexcept {
  return (from.rank == kAnySource || from.rank == envelope.source) && matches(from.tag, envelope.tag);
}

/// A receive, or a probe, that waits for a message.
class PostedReceive {
 public:
  [[nodiscard]] bool matches(const Envelope& envelope) const noexcept FAB_REQUIRES(engine_lock) {
    return core::matches(from_, envelope);
  }
  /// Where the bytes of that message, which it matches, come to lie in a row; null: they do not, or it has no room.
  [[nodiscard]] virtual std::byte* place_for(const Envelope& envelope) const noexcept FAB_REQUIRES(engine_lock) = 0;
  /// It takes nothing.
  [[nodiscard]] bool is_probe() const noexcept FAB_REQUIRES(engine_lock) { return probe_; }
  /// A probe is over.
  virtual void found(const Envelope& envelope) FAB_REQUIRES(engine_lock) = 0;
  /// Takes a message; `bytes` of an eager one, which may be where place_for() says. The queues have forgotten this
  /// receive.
  virtual void take(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes)
      FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~PostedReceive() = default;

  Source from_ FAB_GUARDED_BY(engine_lock);
  bool probe_ = false;
};

/// MPI's rules (MPI-4.1, 3.5): of the receives that match a message, the one that was posted first takes it; of the
/// messages that match a receive, the one that came first is taken. Who calls this keeps the messages of each sender in
/// order.
class MatchQueues {
 public:
  /// A receive for a message that has come: forgotten here from now on. Null: there is none.
  [[nodiscard]] PostedReceive* match(const Envelope& envelope) FAB_REQUIRES(engine_lock);
  /// The same receive, which stays here.
  [[nodiscard]] const PostedReceive* look_for(const Envelope& envelope) const FAB_REQUIRES(engine_lock);
  /// Keeps a message that no receive has matched; tells the probes.
  void keep(Unexpected message) FAB_REQUIRES(engine_lock);
  /// The sender of an offer that is kept here has given it up. Returns whether it is.
  bool withdraw(const Correspondent& from, std::uint32_t sequence) FAB_REQUIRES(engine_lock);
  /// A message for a receive.
  [[nodiscard]] std::optional<Unexpected> take(const PostedReceive& receive) FAB_REQUIRES(engine_lock);
  /// Null: there is none.
  [[nodiscard]] const Envelope* find(Source from) const FAB_REQUIRES(engine_lock);
  void post(PostedReceive& receive) FAB_REQUIRES(engine_lock) { posted_.push_back(&receive); }
  void forget(const PostedReceive& receive) FAB_REQUIRES(engine_lock) { std::erase(posted_, &receive); }

  /// A communicator of this rank's receives from here from now on.
  void join() noexcept FAB_REQUIRES(engine_lock) { ++communicators_; }
  /// One has ended; returns whether it was the last.
  [[nodiscard]] bool leave() noexcept FAB_REQUIRES(engine_lock) { return --communicators_ == 0; }
  /// No receive or probe waits.
  [[nodiscard]] bool none_waits() const noexcept FAB_REQUIRES(engine_lock) { return posted_.empty(); }
  /// Messages that no receive will take.
  [[nodiscard]] std::list<Unexpected> take_all() noexcept FAB_REQUIRES(engine_lock) {
    return std::exchange(unexpected_, {});
  }

 private:
  [[nodiscard]] std::vector<PostedReceive*>::const_iterator first_for(const Envelope& envelope) const
      FAB_REQUIRES(engine_lock);

  std::vector<PostedReceive*> posted_ FAB_GUARDED_BY(engine_lock);  ///< in the order of their posts
  std::list<Unexpected> unexpected_ FAB_GUARDED_BY(engine_lock);    ///< in the order in which they came
  int communicators_ FAB_GUARDED_BY(engine_lock) = 0;
};

}  // namespace fab::core
