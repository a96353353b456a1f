// Tells whether this process calls the functions that fab takes over (next.h). It calls MPI's own if the MPI library
// comes before libfab_mpi, or if fab was loaded later and privately.
#pragma once

#include <mpi.h>

namespace fab::mpi {

enum class CompletedBy {
  fab,  ///< all completion calls of this process reach fab
  mpi   ///< some do not
};

/// Who has to complete a request that is made now; looked into again when more objects have been loaded. Says once in
/// the log when it is MPI. Throws Failure(MPI_ERR_OTHER) when it is MPI, and MPI cannot.
[[nodiscard]] CompletedBy who_completes();
/// Whether the next function does not throw. Precondition: is_open().
[[nodiscard]] bool can_complete_persistent();
/// For exchanges that only fab can start. Throws Failure(MPI_ERR_OTHER) unless fab completes.
void require_completion_by_fab();
/// Whether the next function does not throw.
[[nodiscard]] bool hears_of_freed_operations();
/// For operations that must not be freed while fab uses them. Throws Failure(MPI_ERR_OTHER) unless fab is told.
void require_freeing_of_operations_by_fab();

}  // namespace fab::mpi
