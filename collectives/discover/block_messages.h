// The messages of a discovery: this rank's blocks to its destinations, and other ranks' blocks to this one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/discover/discover.h"
#include "core/base/engine_lock.h"
#include "core/point/operations.h"

namespace fab::collectives {

/// Messages of different discoveries never meet, however late they are: their tags are made from the places of the
/// discoveries in the order of calls.
class BlockMessages {
 public:
  /// What arrives is added to `found`. A block for this rank itself is added at once. `call` and `found` outlive this.
  BlockMessages(std::shared_ptr<core::Communicator> communicator, const Discovery& call, std::uint64_t place,
                Discovered& found);
  /// Takes back what is pending.
  ~BlockMessages();
  BlockMessages(const BlockMessages&) = delete;
  BlockMessages& operator=(const BlockMessages&) = delete;

  /// Starts all messages to other ranks. Precondition: none were.
  void send(SendMode mode);
  /// Starts the receive of one message from any rank. Precondition: there is none.
  void expect();

  /// The first send that was not seen to be complete; null: all were.
  [[nodiscard]] core::Pending* sending() const noexcept { return sent_ == sends_.size() ? nullptr : sends_[sent_]; }
  /// Null: there is none.
  [[nodiscard]] core::Pending* receiving() const noexcept { return receive_; }

  /// Passes over the sends that are complete. Returns the first failure.
  [[nodiscard]] Status look_at_sends();
  /// Takes the received message, and leaves no receive. Precondition: it is done.
  [[nodiscard]] Status take();
  /// All ranks' sends have been received: takes back the receive, unless a message is on its way into it.
  [[nodiscard]] Status stop_expecting();

 private:
  const std::shared_ptr<core::Communicator> communicator_;
  const Discovery& call_;
  const Tag tag_;
  Discovered& found_;
  std::vector<std::byte> room_;        ///< for the next message, and a byte more
  std::vector<core::Pending*> sends_;  ///< null: let go
  std::size_t sent_ = 0;               ///< let go of so many
  core::Pending* receive_ = nullptr;
};

}  // namespace fab::collectives
