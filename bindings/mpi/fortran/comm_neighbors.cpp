// MPI_COMM_NEIGHBORS_COUNT and MPI_COMM_NEIGHBORS for Fortran programs. Arguments: see fabf.h.
#include "bindings/mpi/fortran/arguments.h"
#include "fab/mpi.h"

using namespace fab::mpi;

extern "C" {

void pmpi_comm_neighbors_count_(const MPI_Fint* comm, const MPI_Fint* rank, MPI_Fint* nneighbors, MPI_Fint* ierror) {
  give_code(ierror, PMPI_Comm_neighbors_count(comm_of(comm), *rank, nneighbors));
}

void pmpi_comm_neighbors_(const MPI_Fint* comm, const MPI_Fint* rank, const MPI_Fint* maxneighbors, MPI_Fint* neighbors,
                          MPI_Fint* ierror) {
  give_code(ierror, PMPI_Comm_neighbors(comm_of(comm), *rank, *maxneighbors, neighbors));
}

decltype(pmpi_comm_neighbors_count_) mpi_comm_neighbors_count_ FAB_FORTRAN_PROFILED(mpi_comm_neighbors_count_);
decltype(pmpi_comm_neighbors_) mpi_comm_neighbors_ FAB_FORTRAN_PROFILED(mpi_comm_neighbors_);

decltype(pmpi_comm_neighbors_count_) mpi_comm_neighbors_count_f08_ FAB_FORTRAN_ALIAS(pmpi_comm_neighbors_count_);
decltype(pmpi_comm_neighbors_) mpi_comm_neighbors_f08_ FAB_FORTRAN_ALIAS(pmpi_comm_neighbors_);

}  // extern "C"
