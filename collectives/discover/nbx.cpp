// Discovery by non-blocking consensus (NBX: Hoefler, Siebert, Lumsdaine, PPoPP 2010, section 4.4). Rank counts: any. A
// rank sends its blocks as synchronous messages, which are complete when they have been received. Then it enters a
// non-blocking barrier, and goes on receiving until that ends: by then every rank's messages have been received. Time:
// a message there and back for each neighbour, and a barrier, so log P; no memory that grows with P.
#include <fmt/core.h>

#include <array>
#include <optional>

#include "collectives/discover/block_messages.h"
#include "collectives/discover/discover.h"
#include "collectives/discover/step.h"
#include "collectives/start.h"
#include "core/run/wait.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

/// A message came, and it is not what it should be.
bool disagrees(const Status& status) { return status.errc() == Errc::truncated || status.errc() == Errc::mismatch; }

class Consensus {
 public:
  Consensus(const std::shared_ptr<core::Communicator>& communicator, const Discovery& call)
      : barrier_(communicator, DiscoverAlgorithm::nbx, call, barrier_call(), nullptr, nullptr,
                 DiscoverStep::Begin::when_released),
        messages_(communicator, call, barrier_.place(), found_) {}

  Discovered run() {
    messages_.expect();
    messages_.send(SendMode::synchronous);
    release_if_sent();
    while (!barrier_.done()) {
      const std::array<core::Pending*, 3> pending = {messages_.receiving(), messages_.sending(), &barrier_.pending()};
      core::finish_any(pending);
      if (const Status failure = look(); !failure.ok()) {
        barrier_.give_up(failure);
        throw Error(failure.errc(), "discover: " + failure.message);
      }
    }
    barrier_.complete();
    if (const Status failure = messages_.stop_expecting(); !failure.ok())
      throw Error(failure.errc(), "discover: " + failure.message);
    return std::move(found_);
  }

 private:
  /// Returns why this rank cannot go on.
  [[nodiscard]] Status look() {
    if (barrier_.done()) return {};
    if (const Status failure = messages_.look_at_sends(); !failure.ok()) return failure;
    release_if_sent();
    if (messages_.receiving() == nullptr || !messages_.receiving()->done()) return {};
    const Status status = messages_.take();
    if (status.ok()) {
      messages_.expect();
      return {};
    }
    // Once this rank is in the barrier, a rank that has left may have left well: then the barrier ends well, and no
    // message is missing. If it has not, the barrier fails.
    return released_ && !disagrees(status) ? Status() : status;
  }

  void release_if_sent() {
    if (released_ || messages_.sending() != nullptr) return;
    released_ = true;
    barrier_.release();
  }

  Discovered found_;
  DiscoverStep barrier_;
  BlockMessages messages_;
  bool released_ = false;
};

}  // namespace

Discovered discover_nbx(const std::shared_ptr<core::Communicator>& communicator, const Discovery& call) {
  return Consensus(communicator, call).run();
}

}  // namespace fab::collectives
