// The exchanges as users of an MPI library write them today. Nothing here depends on a particular library.
#pragma once

#include <mpi.h>

#include <vector>

#include "support/contestant.h"
#include "support/nonblocking_call.h"

namespace bench {

/// Where both neighbours of a dimension are one rank, Open MPI 4.1's non-blocking neighbour collectives and MPICH 4.0's
/// MPI_Neighbor_alltoallw put blocks into each other's places.
inline constexpr Placement kCollectivePlacement = Placement::either;

/// Library "MPI": the neighbour collectives. Library "by hand": MPI_Isend and MPI_Irecv to each neighbour, and the same
/// made once as persistent requests. Collective.
[[nodiscard]] std::vector<Contestant> mpi_forms(Exchange& exchange);

/// The non-blocking neighbour collective.
[[nodiscard]] NonblockingCall mpi_nonblocking(Exchange& exchange);

/// Waits as MPI_Wait does, with its return code looked at.
void wait(MPI_Request& request);

}  // namespace bench
