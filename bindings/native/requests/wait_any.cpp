// The first of several things that a caller waits for, of any kind.
#include "fab/wait_any.h"

#include <fmt/core.h>

#include <algorithm>

#include "bindings/native/base/access.h"
#include "bindings/native/base/short_list.h"
#include "core/communicator/persistent.h"
#include "core/run/wait.h"

namespace fab {

Waitable::Waitable(const Request& request) noexcept : pending_(request.pending_) {}

Waitable::Waitable(const PersistentExchange& exchange) noexcept
    : pending_(exchange.active() ? &exchange.exchange_->run() : nullptr) {}

Waitable::Waitable(const PersistentMessage& message) noexcept : Waitable(message.request_) {}

// That of a halo exchange is in halo.cpp.

namespace {

/// Calls `wait` with what is pending of `all`.
template <class Wait>
auto wait_for_one(std::span<const Waitable> all, const char* call, Wait&& wait) {
  native::ShortList<core::Pending*> pending(all.size());
  for (const Waitable& each : all) pending.push_back(Access::pending(each));
  if (std::ranges::all_of(pending, [](const core::Pending* each) { return each == nullptr; }))
    throw Error(Errc::invalid_argument,
                fmt::format("{}: none of the {} operations is active; valid is at least one", call, all.size()));
  return wait(std::span<core::Pending* const>(pending.data(), pending.size()));
}

}  // namespace

std::size_t wait_any(std::span<const Waitable> all) {
  return wait_for_one(all, "wait_any", [](std::span<core::Pending* const> pending) { return core::wait_any(pending); });
}

std::optional<std::size_t> wait_any_until(Waitables all, std::chrono::steady_clock::time_point time) {
  return wait_for_one(all.all(), "wait_any_until",
                      [time](std::span<core::Pending* const> pending) { return core::wait_any_until(pending, time); });
}

}  // namespace fab
