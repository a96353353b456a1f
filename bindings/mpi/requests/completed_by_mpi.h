// Requests that MPI completes, for processes whose completion calls are not fab's (reach.h): generalized requests
// (MPI-4.1, 13.2). MPI knows that they are active, and polls fab while it waits for them.
#pragma once

#include <mpi.h>

#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/requests/exchange.h"
#include "core/run/run.h"

namespace fab::mpi {

/// Gives a run that was started on `attachment` such a request. An error of the exchange is what the call returns that
/// completes it, through the error handler that MPI chooses. Throws Failure; then the run is left to itself.
[[nodiscard]] MPI_Request make_request_for_mpi(const char* call, Attachment& attachment, core::Run& run, Kept kept);

/// Whether there is any that is not complete; one atomic load.
[[nodiscard]] inline bool requests_await_mpi() noexcept {
  return detail::awaited_requests.load(std::memory_order_relaxed) > 0;
}
/// Makes progress, and completes those whose exchanges have ended; returns how many.
int complete_requests();

/// fab's turn in MPI's own progress, which MPI calls: names communicators, completes requests, and makes progress where
/// fab has no thread to do so. Returns how many requests became complete.
int poll_within_mpi() noexcept;

}  // namespace fab::mpi
