// MPI_PNEIGHBOR_XCHG_INIT and the marks of its partitions for Fortran programs. Arguments: see fabf.h.
#include "bindings/mpi/fortran/arguments.h"
#include "bindings/mpi/fortran/section.h"
#include "fab/mpi.h"

using namespace fab::mpi;

extern "C" {

void pmpi_pneighbor_xchg_init_(void* sendbuf, const MPI_Fint* partitions, const MPI_Fint* sendcount,
                               const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount,
                               const MPI_Fint* recvtype, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                               MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Pneighbor_xchg_init(buffer_of(sendbuf), *partitions, *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                    *recvcount, type_of(recvtype), comm_of(comm), MPI_Info_f2c(*info), to);
  });
}

void pmpi_neighbor_pready_(const MPI_Fint* destination, const MPI_Fint* partition, const MPI_Fint* request,
                           MPI_Fint* ierror) {
  give_code(ierror, PMPI_Neighbor_pready(*destination, *partition, request_of(request)));
}

// A LOGICAL is written as an INTEGER of its size: 1 is true to gfortran and to those that look at the lowest bit. A
// call that fails leaves it alone.
void pmpi_neighbor_parrived_(const MPI_Fint* request, const MPI_Fint* source, const MPI_Fint* partition, MPI_Fint* flag,
                             MPI_Fint* ierror) {
  int arrived = 0;
  const int code = PMPI_Neighbor_parrived(request_of(request), *source, *partition, &arrived);
  if (code == MPI_SUCCESS) *flag = arrived;
  give_code(ierror, code);
}

// From the modules.
void mpi_pneighbor_xchg_init_fts_(const Section* sendbuf, const MPI_Fint* partitions, const MPI_Fint* sendcount,
                                  const MPI_Fint* sendtype, const Section* recvbuf, const MPI_Fint* recvcount,
                                  const MPI_Fint* recvtype, const MPI_Fint* comm, const MPI_Fint* info,
                                  MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror, [&](MPI_Request* to) {
      return refuse_init("MPI_Pneighbor_xchg_init", wrong, comm_of(comm), to);
    });
  pmpi_pneighbor_xchg_init_(sendbuf->address, partitions, sendcount, sendtype, recvbuf->address, recvcount, recvtype,
                            comm, info, request, ierror);
}

decltype(pmpi_pneighbor_xchg_init_) mpi_pneighbor_xchg_init_ FAB_FORTRAN_PROFILED(mpi_pneighbor_xchg_init_);
decltype(pmpi_neighbor_pready_) mpi_neighbor_pready_ FAB_FORTRAN_PROFILED(mpi_neighbor_pready_);
decltype(pmpi_neighbor_parrived_) mpi_neighbor_parrived_ FAB_FORTRAN_PROFILED(mpi_neighbor_parrived_);

decltype(mpi_pneighbor_xchg_init_fts_) mpi_pneighbor_xchg_init_f08ts_ FAB_FORTRAN_ALIAS(mpi_pneighbor_xchg_init_fts_);
decltype(pmpi_neighbor_pready_) mpi_neighbor_pready_f08_ FAB_FORTRAN_ALIAS(pmpi_neighbor_pready_);

}  // extern "C"
