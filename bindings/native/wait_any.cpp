// The first of several things that a caller waits for, of any kind.
#include "fab/wait_any.h"

#include <fmt/core.h>

#include <algorithm>

#include "bindings/native/short_list.h"
#include "core/communicator/persistent.h"
#include "core/run/wait.h"

namespace fab {

Waitable::Waitable(const Request& request) noexcept : pending_(request.pending_) {}

Waitable::Waitable(const PersistentExchange& exchange) noexcept
    : pending_(exchange.active() ? &exchange.exchange_->run() : nullptr) {}

Waitable::Waitable(const PersistentMessage& message) noexcept : Waitable(message.request_) {}

// That of a halo exchange is in halo.cpp.

std::size_t wait_any(std::span<const Waitable> all) {
  native::ShortList<core::Pending*> pending(all.size());
  for (const Waitable& each : all) pending.push_back(each.pending_);
  if (std::ranges::all_of(pending, [](const core::Pending* each) { return each == nullptr; }))
    throw Error(Errc::invalid_argument,
                fmt::format("wait_any: none of the {} operations is active; valid is at least one", all.size()));
  return core::wait_any(pending);
}

}  // namespace fab
