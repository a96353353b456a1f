// The one context of this process. MPI makes it process-wide; lifecycle/ opens and closes it.
#pragma once

#include <atomic>

#include "core/context.h"

namespace fab::mpi {

namespace detail {
inline constinit std::atomic<core::Context*> open_context{nullptr};
inline constinit std::atomic<bool> exchange_failed{false};
/// What MPI's progress looks after. MPI asks in every call that waits, mostly in vain: so all lies in one cache line.
inline constinit std::atomic<int> pending_names{0};
inline constinit std::atomic<int> awaited_requests{0};
}  // namespace detail

/// Whether fab is open: from the first call that needs the transport until MPI_Finalize. One atomic load.
[[nodiscard]] inline bool is_open() noexcept { return detail::open_context.load(std::memory_order_acquire) != nullptr; }

/// Precondition: is_open().
[[nodiscard]] inline core::Context& process_context() noexcept {
  return *detail::open_context.load(std::memory_order_relaxed);
}
[[nodiscard]] inline core::Engine& process_engine() noexcept { return process_context().engine(); }

/// For lifecycle/ alone, which owns the context. Null: fab is no longer open.
inline void publish_context(core::Context* context) noexcept {
  detail::open_context.store(context, std::memory_order_release);
}

/// An exchange failed, so a peer may never reach MPI_Finalize's handshake: closing waits for it for a limited time.
inline void note_failure() noexcept { detail::exchange_failed.store(true, std::memory_order_relaxed); }
[[nodiscard]] inline bool has_failed() noexcept { return detail::exchange_failed.load(std::memory_order_relaxed); }

}  // namespace fab::mpi
