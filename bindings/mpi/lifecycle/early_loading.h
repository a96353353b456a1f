// Loads libfabric before MPI_Init, so that MPI_Init need not wait for its libraries.
//
// libfabric brings libraries for Omni-Path cards along that take a fifth of a second to load. Open MPI's MPI_Init loads
// and unloads them, too, unless its components for cards are left out: those that are there already, or stand-ins for
// them (providers/ofi/loading/stand_ins.h), cost it nothing.
#pragma once

#include <memory>

#include "core/base/config.h"

namespace fab::mpi {

/// Whether Open MPI looks for cards through libfabric or those libraries: it does unless the users' lists of components
/// (OMPI_MCA_pml, OMPI_MCA_mtl, OMPI_MCA_btl) leave out all that would.
[[nodiscard]] bool open_mpi_looks_for_cards(const Environment& environment);

/// Loads libfabric if MPI_Init would load its libraries: for good where it will be needed (need_network), and
/// otherwise, if the machine has no such cards, for as long as the result lives. Where MPI_Init leaves them out opening
/// fab loads it, which a program of which fab carries nothing never pays. Before MPI_Init. Says nothing of failures,
/// which opening fab reports.
[[nodiscard]] std::shared_ptr<void> load_before_mpi() noexcept;

}  // namespace fab::mpi
