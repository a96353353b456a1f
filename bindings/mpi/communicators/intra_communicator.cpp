#include "bindings/mpi/communicators/intra_communicator.h"

#include "bindings/mpi/base/failure.h"

namespace fab::mpi {

void check_communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) throw Failure(MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  int inter = 0;
  require(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) throw Failure(MPI_ERR_COMM, "comm is an inter-communicator; an intra-communicator is needed");
}

}  // namespace fab::mpi
