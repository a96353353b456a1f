// The one-sided messages of a persistent exchange, as its run sees them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/engine_lock.h"
#include "core/plan/plan.h"

namespace fab::core {

struct Transfer;

/// Guarded by the engine's lock. core/one_sided/one_sided.h is the one there is.
class WrittenMessages {
 public:
  virtual ~WrittenMessages() = default;

  /// All peers have told where to write, or one will not; see failure().
  [[nodiscard]] virtual bool ready() FAB_REQUIRES(engine_lock) = 0;
  /// Null unless nothing can be started. A peer that disagrees fails its own messages only.
  [[nodiscard]] virtual const Status* failure() const noexcept FAB_REQUIRES(engine_lock) = 0;
  [[nodiscard]] virtual std::string describe_pending() const FAB_REQUIRES(engine_lock) = 0;

  virtual void next_start() noexcept FAB_REQUIRES(engine_lock) = 0;
  /// Of the message that the last start expects, or sends.
  [[nodiscard]] virtual std::uint64_t slot_offset(const PlannedOperation& operation) const noexcept
      FAB_REQUIRES(engine_lock) = 0;
  [[nodiscard]] virtual PostResult post(Transfer& transfer, std::span<const iovec> pieces)
      FAB_REQUIRES(engine_lock) = 0;
  /// Ends a transfer that waits for its peer; false when it does not.
  virtual bool cancel(Transfer& transfer) FAB_REQUIRES(engine_lock) = 0;
  /// It is a write, and the provider could not do it, perhaps since the receiver has taken its memory back.
  [[nodiscard]] virtual bool may_be_refused(const PlannedOperation& operation) const noexcept
      FAB_REQUIRES(engine_lock) = 0;
  /// The provider could not do it.
  virtual void broken(const PlannedOperation& operation) noexcept FAB_REQUIRES(engine_lock) = 0;
  /// The start has failed. The ends of a channel that did not do its part count differently from now on, and its memory
  /// must not be written to any more.
  virtual void end_start(const Status& reason) FAB_REQUIRES(engine_lock) = 0;
};

}  // namespace fab::core
