// Collectives of the MPI library.
#pragma once

#include <vector>

#include "support/collective_case.h"
#include "support/contestant.h"
#include "support/nonblocking_call.h"

namespace bench {

/// Library "MPI", blocking and non-blocking.
[[nodiscard]] std::vector<Contestant> mpi_collectives(CollectiveCase& one);
[[nodiscard]] NonblockingCall mpi_nonblocking(CollectiveCase& one);

}  // namespace bench
