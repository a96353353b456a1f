#include "bindings/mpi/base/private_comm.h"

#include "bindings/mpi/base/failure.h"

namespace fab::mpi {

namespace {

MPI_Comm duplicate = MPI_COMM_NULL;  // written while no other thread is in fab

}  // namespace

MPI_Comm private_comm() noexcept { return duplicate; }

void open_private_comm() {
  require(PMPI_Comm_dup(MPI_COMM_SELF, &duplicate), "MPI_Comm_dup");
  require(PMPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

void close_private_comm() noexcept {
  if (PMPI_Comm_free(&duplicate) != MPI_SUCCESS) log_error("MPI_Finalize", "cannot free a communicator");
}

}  // namespace fab::mpi
