#include "bindings/mpi/communicators/intra_communicator.h"

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/handles.h"

namespace fab::mpi {

void require_communicator(MPI_Comm comm) {
  if (is_communicator(comm)) return;
  throw Failure(MPI_ERR_COMM, comm == MPI_COMM_NULL ? "comm is MPI_COMM_NULL" : "comm is no handle of a communicator");
}

void check_communicator(MPI_Comm comm) {
  require_communicator(comm);
  int inter = 0;
  require(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) throw Failure(MPI_ERR_COMM, "comm is an inter-communicator; an intra-communicator is needed");
}

}  // namespace fab::mpi
