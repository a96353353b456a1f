// fab's turn in MPI's own progress: a function that MPI calls from within every call that waits or tests. Open MPI has
// a list of such functions, and MPICH asks for one with each request that others complete.
#pragma once

namespace fab::mpi {

/// Whether MPI calls poll_within_mpi() once open_hook() was called.
[[nodiscard]] bool mpi_polls_fab() noexcept;

/// Once, when fab opens. Where the MPI library has no such list, mpi_polls_fab() is false, or MPI polls only for
/// requests that are made for it (completed_by_mpi.h).
void open_hook() noexcept;
/// At MPI_Finalize.
void close_hook() noexcept;

/// What MPI calls: names communicators, completes the requests of completed_by_mpi.h, and makes progress where fab has
/// no thread to do so. Returns how many requests became complete.
int poll_within_mpi() noexcept;

}  // namespace fab::mpi
