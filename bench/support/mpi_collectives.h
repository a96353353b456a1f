// Collectives of the MPI library.
#pragma once

#include <mpi.h>

#include <vector>

#include "support/collective_case.h"
#include "support/contestant.h"
#include "support/nonblocking_call.h"

namespace bench {

/// Library "MPI", blocking and non-blocking, on a communicator of all ranks in their order.
[[nodiscard]] std::vector<Contestant> mpi_collectives(CollectiveCase& one, MPI_Comm comm);
[[nodiscard]] NonblockingCall mpi_nonblocking(CollectiveCase& one);

}  // namespace bench
