// Keeps the order of messages of one tag to one peer, if the provider does not.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/provider.h"

namespace fab::ofi {

/// A send that waits for the one before it.
struct DelayedSend {
  PeerHandle to = 0;
  std::uint64_t tag = 0;
  std::vector<iovec> pieces;
  Completion* completion = nullptr;
};

/// Lets the next message of a tag to a peer leave only when the one before it has been delivered.
class SendOrder {
 public:
  /// One with this tag is on its way there, or waits.
  [[nodiscard]] bool is_taken(PeerHandle to, std::uint64_t tag) const { return flows_.contains({to, tag}); }
  void keep(PeerHandle to, std::uint64_t tag, std::span<const iovec> pieces, Completion& completion);
  void begin(PeerHandle to, std::uint64_t tag, const Completion& completion);
  /// It was refused at once, failed or was delivered. No effect on what never began.
  void end(const Completion& completion);

  [[nodiscard]] bool has_due() const noexcept { return !due_.empty(); }
  /// The first send that waits for nothing any more, which leaves this object.
  [[nodiscard]] DelayedSend take_due();
  /// Puts back one that was refused, the first again; others of its tag still wait behind it.
  void put_back(DelayedSend send);

 private:
  using Flow = std::pair<PeerHandle, std::uint64_t>;

  std::map<Flow, std::deque<DelayedSend>> flows_;  ///< those with a message on its way or due, and what waits behind it
  std::unordered_map<const Completion*, Flow> on_the_way_;
  std::deque<DelayedSend> due_;
};

}  // namespace fab::ofi
