// Waits for the first of several operations of any kind: requests, persistent exchanges and messages, halo exchanges.
//
//     switch (fab::wait_any({request, exchange, halo})) {  // the index of one that is complete
//       case 0: request.wait(); ...                         // returns at once
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>

#include "fab/api.h"
#include "fab/halo.h"
#include "fab/persistent.h"
#include "fab/persistent_message.h"
#include "fab/request.h"

namespace fab {

/// An operation that wait_any may wait for, if it is active when this is made. Its object must not be waited for,
/// tested or moved before wait_any returns.
class FAB_API Waitable {
 public:
  /// Nothing: wait_any passes it over.
  Waitable() noexcept = default;
  /// @{
  /// The operation of this object, if one is active.
  Waitable(const Request& request) noexcept;              // NOLINT(google-explicit-constructor)
  Waitable(const PersistentExchange& exchange) noexcept;  // NOLINT(google-explicit-constructor)
  Waitable(const PersistentMessage& message) noexcept;    // NOLINT(google-explicit-constructor)
  /// @}
  /// The exchange of the current field.
  Waitable(const HaloExchange& halo) noexcept;  // NOLINT(google-explicit-constructor)

 private:
  friend struct Access;
  core::Pending* pending_ = nullptr;  ///< null: not active
};

/// Operations to wait for: a list in braces, or anything that a span of Waitables can be made of. For arguments alone.
class Waitables {
 public:
  /// @{
  /// Refers to the operations of `all`, which must outlive the object; those of a list live until the call returns.
  Waitables(std::initializer_list<Waitable> all) noexcept : all_(all.begin(), all.size()) {}
  template <class Range>
  requires std::convertible_to<const Range&, std::span<const Waitable>> Waitables(const Range& all)
  noexcept : all_(all) {}  // NOLINT(google-explicit-constructor)
  /// @}

  /// The operations, in their order.
  [[nodiscard]] std::span<const Waitable> all() const noexcept { return all_; }

 private:
  std::span<const Waitable> all_;
};

/// Returns the index of an operation that is complete or has failed; waits for one if necessary. The operation stays
/// active: its own wait, or finish, then returns at once and throws its failure. Those that are not active are passed
/// over. Throws Error(invalid_argument) if none is active.
[[nodiscard]] FAB_API std::size_t wait_any(std::span<const Waitable> all);
/// wait_any of a list in braces.
[[nodiscard]] inline std::size_t wait_any(std::initializer_list<Waitable> all) {
  return wait_any(std::span(all.begin(), all.size()));
}
/// wait_any until the clock shows `time` at most. Returns no index if all operations are still going on then.
[[nodiscard]] FAB_API std::optional<std::size_t> wait_any_until(Waitables all,
                                                                std::chrono::steady_clock::time_point time);
/// wait_any_until with a duration from now.
template <class Number, class Period>
[[nodiscard]] std::optional<std::size_t> wait_any_for(Waitables all, std::chrono::duration<Number, Period> time) {
  return wait_any_until(all, detail::time_after(time));
}
/// @{
/// A call above without exceptions. It returns the failure that the call throws.
[[nodiscard]] inline Result<std::size_t> try_wait_any(Waitables all) {
  return attempt([&] { return wait_any(all.all()); });
}
[[nodiscard]] inline Result<std::optional<std::size_t>> try_wait_any_until(Waitables all,
                                                                           std::chrono::steady_clock::time_point time) {
  return attempt([&] { return wait_any_until(all, time); });
}
template <class Number, class Period>
[[nodiscard]] Result<std::optional<std::size_t>> try_wait_any_for(Waitables all,
                                                                  std::chrono::duration<Number, Period> time) {
  return try_wait_any_until(all, detail::time_after(time));
}
/// @}

}  // namespace fab
