// Access to the private parts of the native API's classes, for libfab's own sources, other bindings, tools and tests.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/communicator/persistent.h"
#include "fab/communicator.h"
#include "fab/partitioned.h"
#include "fab/persistent.h"
#include "fab/persistent_message.h"
#include "fab/request.h"
#include "fab/wait_any.h"

namespace fab {

struct Access {
  [[nodiscard]] static const std::shared_ptr<core::Communicator>& core(const Communicator& communicator) noexcept {
    return communicator.core_;
  }
  [[nodiscard]] static Communicator communicator(std::shared_ptr<core::Communicator> core) noexcept {
    return Communicator(std::move(core));
  }
  /// So many that are no communicators yet.
  [[nodiscard]] static std::unique_ptr<Communicator[]> communicators(std::size_t count) {
    return std::unique_ptr<Communicator[]>(new Communicator[count]);
  }
  /// Takes over what was started.
  [[nodiscard]] static Request request(std::shared_ptr<core::Communicator> communicator,
                                       core::Pending& pending) noexcept {
    return {std::move(communicator), pending};
  }
  /// `start` sends or receives it once.
  [[nodiscard]] static PersistentMessage message(PersistentMessage::Start start) {
    return PersistentMessage(std::move(start));
  }
  /// Null: not active.
  [[nodiscard]] static core::Pending* pending(const Waitable& waitable) noexcept { return waitable.pending_; }
  /// `sources` are the edges whose blocks can be waited for one by one.
  [[nodiscard]] static PersistentExchange exchange(core::Persistent exchange, std::span<const Edge> sources = {}) {
    return PersistentExchange(std::move(exchange), sources);
  }
  /// All edges can be waited for, and the parts of those that are divided.
  [[nodiscard]] static PartitionedExchange partitioned(core::Persistent made) {
    const std::vector<Edge> sources(made.sources().begin(), made.sources().end());
    return PartitionedExchange(exchange(std::move(made), sources));
  }
};

}  // namespace fab
