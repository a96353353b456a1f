// Decides when fab opens in an MPI process, and when it closes.
#pragma once

#include "bindings/mpi/base/process_context.h"

namespace fab::mpi {

namespace detail {
void open_fab_now();
}

/// MPI_Init has succeeded: MPI_Finalize will close fab, after all functions of the program's that it calls. Where fab
/// needs MPI to find the other processes, this is the only call that is collective over all of them: it prepares for
/// that. Says in the log where it cannot; the call that opens fab fails then.
void mpi_is_initialized() noexcept;

/// MPI_Finalize calls `hook` once, just before it closes fab, or would if fab were open. Safe from any thread. Throws
/// Failure. Precondition: MPI may be called.
void before_closing(void (*hook)() noexcept);

/// The first call that needs the transport opens fab, MPI_Finalize closes it. Safe from any thread. Throws
/// Failure(MPI_ERR_OTHER) before MPI_Init, after MPI_Finalize, and where opening failed (the same each time).
inline void open_fab() {
  if (!is_open()) detail::open_fab_now();
}

}  // namespace fab::mpi
