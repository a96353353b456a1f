// Carries fab's values in messages of MPI's.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/bootstrap/carrier.h"

namespace fab::mpi {

/// Takes over `comm`, a communicator of all ranks that no one else uses and that returns errors. Messages and not a
/// window: MPICH keeps a table of all ranks for each window, and reads memory of other nodes only while the target is
/// in a call of MPI's, so the target may as well answer.
/// The carrier frees `comm` when it ends behind a meeting, for all ranks must. MPI must be usable then.
[[nodiscard]] std::unique_ptr<Carrier> make_mpi_carrier(MPI_Comm comm);

}  // namespace fab::mpi
