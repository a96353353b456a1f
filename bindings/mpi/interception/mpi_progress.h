// MPI's list of functions that it calls from within every call that waits or tests. Open MPI has such a list; MPICH
// asks for a function with each request that others complete.
#pragma once

namespace fab::mpi {

/// Returns how many requests it has completed.
using ProgressFunction = int (*)() noexcept;

/// Adds fab's function. Once, when fab opens. Where the MPI library has no such list nothing happens.
void join_mpi_progress(ProgressFunction function) noexcept;
/// Takes it away again. At MPI_Finalize.
void leave_mpi_progress() noexcept;

/// Whether MPI polls fab: it has joined the list, or MPI polls for each request that is made for it.
[[nodiscard]] bool mpi_polls_fab() noexcept;

}  // namespace fab::mpi
