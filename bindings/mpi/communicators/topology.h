// Converts MPI's process topologies to fab's.
#pragma once

#include <mpi.h>

#include <vector>

#include "fab/topology.h"

namespace fab::mpi {

/// The topology of an intra-communicator. A graph becomes a distributed one of this rank's own edges, once all of its
/// edges were found to have two ends. Throws Failure(MPI_ERR_TOPOLOGY) where there is none or a graph has one-sided
/// edges: on all ranks alike.
[[nodiscard]] Topology read_topology(MPI_Comm comm);

/// The neighbors of `rank` in the order of Topological Collectives for MPI-2, 2.2; of a distributed graph its
/// destinations. Throws Failure: MPI_ERR_COMM, MPI_ERR_TOPOLOGY, MPI_ERR_RANK.
[[nodiscard]] std::vector<int> neighbors_of(MPI_Comm comm, int rank);

}  // namespace fab::mpi
