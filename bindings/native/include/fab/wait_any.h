// Waits for the first of several operations of any kind: requests, persistent exchanges and messages, halo exchanges.
//
//     switch (fab::wait_any({request, exchange, halo})) {  // the index of one that is complete
//       case 0: request.wait(); ...                         // returns at once
#pragma once

#include <cstddef>
#include <initializer_list>
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
  Waitable(const Request& request) noexcept;              // NOLINT(google-explicit-constructor)
  Waitable(const PersistentExchange& exchange) noexcept;  // NOLINT(google-explicit-constructor)
  Waitable(const PersistentMessage& message) noexcept;    // NOLINT(google-explicit-constructor)
  /// The exchange of the current field.
  Waitable(const HaloExchange& halo) noexcept;  // NOLINT(google-explicit-constructor)

 private:
  friend std::size_t wait_any(std::span<const Waitable> all);
  core::Pending* pending_ = nullptr;  ///< null: not active
};

/// Returns the index of an operation that is complete or has failed; waits for one if necessary. The operation stays
/// active: its own wait, or finish, then returns at once and throws its failure. Those that are not active are passed
/// over. Throws Error(invalid_argument) if none is active.
[[nodiscard]] FAB_API std::size_t wait_any(std::span<const Waitable> all);
/// wait_any of a list in braces.
[[nodiscard]] inline std::size_t wait_any(std::initializer_list<Waitable> all) {
  return wait_any(std::span(all.begin(), all.size()));
}

}  // namespace fab
