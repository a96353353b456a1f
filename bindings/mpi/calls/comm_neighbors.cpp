// MPI_Comm_neighbors_count, MPI_Comm_neighbors. Local: they need no transport.
#include <fmt/core.h>

#include <algorithm>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/communicators/topology.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

void check_usable() {
  if (!mpi_is_usable()) throw Failure(MPI_ERR_OTHER, "called before MPI_Init or after MPI_Finalize");
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

int PMPI_Comm_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  return guarded("MPI_Comm_neighbors_count", comm, [&] {
    check_usable();
    if (nneighbors == nullptr) throw Failure(MPI_ERR_ARG, "nneighbors is a null pointer");
    *nneighbors = static_cast<int>(neighbors_of(comm, rank).size());
  });
}

int PMPI_Comm_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  return guarded("MPI_Comm_neighbors", comm, [&] {
    check_usable();
    if (maxneighbors < 0)
      throw Failure(MPI_ERR_ARG, fmt::format("maxneighbors is {}; valid is 0 or more", maxneighbors));
    const std::vector<int> all = neighbors_of(comm, rank);
    const std::size_t written = std::min(all.size(), static_cast<std::size_t>(maxneighbors));
    if (written > 0 && neighbors == nullptr) throw Failure(MPI_ERR_ARG, "neighbors is a null pointer");
    std::copy_n(all.begin(), written, neighbors);
  });
}

extern "C" {
int MPI_Comm_neighbors_count(MPI_Comm, int, int*) __attribute__((weak, alias("PMPI_Comm_neighbors_count")));
int MPI_Comm_neighbors(MPI_Comm, int, int, int[]) __attribute__((weak, alias("PMPI_Comm_neighbors")));
}
