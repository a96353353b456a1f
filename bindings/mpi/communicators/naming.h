// The agreement of a communicator's ranks on its context id.
#pragma once

#include <mpi.h>

#include <memory>

#include "bindings/mpi/base/process_context.h"
#include "core/communicator/communicator.h"

namespace fab::mpi {

/// Starts it, of a communicator on that engine: rank 0 draws a number and broadcasts it without blocking on `comm`,
/// which is legal because an exchange is a collective call there too. Exchanges that start meanwhile wait inside fab.
void begin_naming(const std::shared_ptr<core::Communicator>& communicator, int engine, MPI_Comm comm);

/// Whether some communicator has no id yet.
[[nodiscard]] inline bool naming_is_pending() noexcept {
  return detail::pending_names.load(std::memory_order_relaxed) > 0;
}
/// Looks whether numbers have come. Only MPI calls move them, so callers that wait or test call this, and MPI itself
/// where it polls fab (requests/completed_by_mpi.h).
void advance_naming();
/// Returns when none is pending.
void finish_naming();
/// Returns when this communicator's is not pending. For MPI_Comm_free, before which every rank has begun it: Open
/// MPI 4.1 forgets its communicator under a broadcast that is still going on.
void finish_naming(const core::Communicator& communicator);

}  // namespace fab::mpi
