// libfabric brings libraries for Omni-Path cards along that take a fifth of a second to load. Open MPI's MPI_Init loads
// and unloads them, too: those that are there already cost it nothing.
#pragma once

#include "core/base/config.h"

namespace fab::mpi {

/// Whether ranks of this job will use a network, by FAB_LOCAL and what Open MPI's launcher says; false where it says
/// nothing.
[[nodiscard]] bool needs_network(bool local, const Environment& environment);

/// Loads libfabric where it will be needed. Before MPI_Init. Says nothing of failures, which opening fab reports.
void load_before_mpi() noexcept;

}  // namespace fab::mpi
