// MPI_NEIGHBOR_XCHG and MPI_NEIGHBOR_XCHGV for Fortran programs. Arguments: see fabf.h.
#include "bindings/mpi/fortran/arguments.h"
#include "bindings/mpi/fortran/section.h"
#include "fab/mpi.h"

using namespace fab::mpi;

extern "C" {

void pmpi_neighbor_xchg_(void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                         const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror) {
  give_code(ierror, PMPI_Neighbor_xchg(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                       *recvcount, type_of(recvtype), comm_of(comm)));
}

void pmpi_ineighbor_xchg_(void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                          const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request,
                          MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Ineighbor_xchg(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                               type_of(recvtype), comm_of(comm), to);
  });
}

void pmpi_neighbor_xchg_init_(void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                              const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm,
                              const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Neighbor_xchg_init(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                   type_of(recvtype), comm_of(comm), MPI_Info_f2c(*info), to);
  });
}

void pmpi_neighbor_xchgv_(void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls, const MPI_Fint* sendtype,
                          void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls, const MPI_Fint* recvtype,
                          const MPI_Fint* comm, MPI_Fint* ierror) {
  give_code(ierror, PMPI_Neighbor_xchgv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                                        recvcounts, rdispls, type_of(recvtype), comm_of(comm)));
}

void pmpi_ineighbor_xchgv_(void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls, const MPI_Fint* sendtype,
                           void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls, const MPI_Fint* recvtype,
                           const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Ineighbor_xchgv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                                recvcounts, rdispls, type_of(recvtype), comm_of(comm), to);
  });
}

void pmpi_neighbor_xchgv_init_(void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                               const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts,
                               const MPI_Fint* rdispls, const MPI_Fint* recvtype, const MPI_Fint* comm,
                               const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Neighbor_xchgv_init(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                                    recvcounts, rdispls, type_of(recvtype), comm_of(comm), MPI_Info_f2c(*info), to);
  });
}

// From the modules.
void mpi_ineighbor_xchg_fts_(const Section* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype,
                             const Section* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                             const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror,
                        [&](MPI_Request* to) { return refuse_start("MPI_Ineighbor_xchg", wrong, comm_of(comm), to); });
  pmpi_ineighbor_xchg_(sendbuf->address, sendcount, sendtype, recvbuf->address, recvcount, recvtype, comm, request,
                       ierror);
}

void mpi_neighbor_xchg_init_fts_(const Section* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype,
                                 const Section* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                                 const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror, [&](MPI_Request* to) {
      return refuse_init("MPI_Neighbor_xchg_init", wrong, comm_of(comm), to);
    });
  pmpi_neighbor_xchg_init_(sendbuf->address, sendcount, sendtype, recvbuf->address, recvcount, recvtype, comm, info,
                           request, ierror);
}

void mpi_ineighbor_xchgv_fts_(const Section* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                              const MPI_Fint* sendtype, const Section* recvbuf, const MPI_Fint* recvcounts,
                              const MPI_Fint* rdispls, const MPI_Fint* recvtype, const MPI_Fint* comm,
                              MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror,
                        [&](MPI_Request* to) { return refuse_start("MPI_Ineighbor_xchgv", wrong, comm_of(comm), to); });
  pmpi_ineighbor_xchgv_(sendbuf->address, sendcounts, sdispls, sendtype, recvbuf->address, recvcounts, rdispls,
                        recvtype, comm, request, ierror);
}

void mpi_neighbor_xchgv_init_fts_(const Section* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                                  const MPI_Fint* sendtype, const Section* recvbuf, const MPI_Fint* recvcounts,
                                  const MPI_Fint* rdispls, const MPI_Fint* recvtype, const MPI_Fint* comm,
                                  const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror, [&](MPI_Request* to) {
      return refuse_init("MPI_Neighbor_xchgv_init", wrong, comm_of(comm), to);
    });
  pmpi_neighbor_xchgv_init_(sendbuf->address, sendcounts, sdispls, sendtype, recvbuf->address, recvcounts, rdispls,
                            recvtype, comm, info, request, ierror);
}

decltype(pmpi_neighbor_xchg_) mpi_neighbor_xchg_ FAB_FORTRAN_PROFILED(mpi_neighbor_xchg_);
decltype(pmpi_ineighbor_xchg_) mpi_ineighbor_xchg_ FAB_FORTRAN_PROFILED(mpi_ineighbor_xchg_);
decltype(pmpi_neighbor_xchg_init_) mpi_neighbor_xchg_init_ FAB_FORTRAN_PROFILED(mpi_neighbor_xchg_init_);
decltype(pmpi_neighbor_xchgv_) mpi_neighbor_xchgv_ FAB_FORTRAN_PROFILED(mpi_neighbor_xchgv_);
decltype(pmpi_ineighbor_xchgv_) mpi_ineighbor_xchgv_ FAB_FORTRAN_PROFILED(mpi_ineighbor_xchgv_);
decltype(pmpi_neighbor_xchgv_init_) mpi_neighbor_xchgv_init_ FAB_FORTRAN_PROFILED(mpi_neighbor_xchgv_init_);

decltype(pmpi_neighbor_xchg_) mpi_neighbor_xchg_f08_ FAB_FORTRAN_ALIAS(pmpi_neighbor_xchg_);
decltype(mpi_ineighbor_xchg_fts_) mpi_ineighbor_xchg_f08ts_ FAB_FORTRAN_ALIAS(mpi_ineighbor_xchg_fts_);
decltype(mpi_neighbor_xchg_init_fts_) mpi_neighbor_xchg_init_f08ts_ FAB_FORTRAN_ALIAS(mpi_neighbor_xchg_init_fts_);
decltype(pmpi_neighbor_xchgv_) mpi_neighbor_xchgv_f08_ FAB_FORTRAN_ALIAS(pmpi_neighbor_xchgv_);
decltype(mpi_ineighbor_xchgv_fts_) mpi_ineighbor_xchgv_f08ts_ FAB_FORTRAN_ALIAS(mpi_ineighbor_xchgv_fts_);
decltype(mpi_neighbor_xchgv_init_fts_) mpi_neighbor_xchgv_init_f08ts_ FAB_FORTRAN_ALIAS(mpi_neighbor_xchgv_init_fts_);

}  // extern "C"
