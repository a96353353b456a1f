// Loads libfabric before MPI_Init, so that MPI_Init need not load its libraries.
//
// libfabric brings libraries for Omni-Path cards along that take a fifth of a second to load. Open MPI's MPI_Init loads
// and unloads them, too: those that are there already cost it nothing.
#pragma once

namespace fab::mpi {

/// Loads libfabric where it will be needed (need_network). Before MPI_Init. Says nothing of failures, which opening fab
/// reports.
void load_before_mpi() noexcept;

}  // namespace fab::mpi
