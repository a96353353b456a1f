// The one-sided messages of a persistent exchange, as its run sees them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/plan/plan.h"

namespace fab::core {

struct Transfer;

/// Guarded by the engine's lock. core/one_sided/one_sided.h is the one there is.
class WrittenMessages {
 public:
  virtual ~WrittenMessages() = default;

  /// All peers have told where to write, or one will not; see failure().
  [[nodiscard]] virtual bool ready() = 0;
  /// Null unless nothing can be started. A peer that disagrees fails its own messages only.
  [[nodiscard]] virtual const Status* failure() const noexcept = 0;
  [[nodiscard]] virtual std::string describe_pending() const = 0;

  virtual void next_start() noexcept = 0;
  /// Of the message that the last start expects, or sends.
  [[nodiscard]] virtual std::uint64_t slot_offset(const PlannedOperation& operation) const noexcept = 0;
  [[nodiscard]] virtual PostResult post(Transfer& transfer, std::span<const iovec> pieces) = 0;
  /// Ends a transfer that waits for its peer; false when it does not.
  virtual bool cancel(Transfer& transfer) = 0;
  /// The provider could not do it.
  virtual void broken(const PlannedOperation& operation) noexcept = 0;
  /// The start has failed. The ends of a channel that did not do its part count differently from now on, and its memory
  /// must not be written to any more.
  virtual void end_start(const Status& reason) = 0;
};

}  // namespace fab::core
