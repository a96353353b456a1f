// MPI_CART_SHIFT_XCHG for Fortran programs. Arguments: see fabf.h. Directions count from 0, as in MPI_CART_SHIFT.
#include "bindings/mpi/fortran/arguments.h"
#include "bindings/mpi/fortran/section.h"
#include "fab/mpi.h"

using namespace fab::mpi;

extern "C" {

void pmpi_cart_shift_xchg_(void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                           const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* direction,
                           const MPI_Fint* disp, const MPI_Fint* comm, MPI_Fint* ierror) {
  give_code(ierror, PMPI_Cart_shift_xchg(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                         *recvcount, type_of(recvtype), *direction, *disp, comm_of(comm)));
}

void pmpi_icart_shift_xchg_(void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                            const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* direction,
                            const MPI_Fint* disp, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Icart_shift_xchg(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                 type_of(recvtype), *direction, *disp, comm_of(comm), to);
  });
}

void pmpi_cart_shift_xchg_init_(void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                                const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* direction,
                                const MPI_Fint* disp, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                                MPI_Fint* ierror) {
  give_request(request, ierror, [&](MPI_Request* to) {
    return PMPI_Cart_shift_xchg_init(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                     type_of(recvtype), *direction, *disp, comm_of(comm), MPI_Info_f2c(*info), to);
  });
}

// From the modules.
void mpi_icart_shift_xchg_fts_(const Section* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype,
                               const Section* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                               const MPI_Fint* direction, const MPI_Fint* disp, const MPI_Fint* comm, MPI_Fint* request,
                               MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror, [&](MPI_Request* to) {
      return refuse_start("MPI_Icart_shift_xchg", wrong, comm_of(comm), to);
    });
  pmpi_icart_shift_xchg_(sendbuf->address, sendcount, sendtype, recvbuf->address, recvcount, recvtype, direction, disp,
                         comm, request, ierror);
}

void mpi_cart_shift_xchg_init_fts_(const Section* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype,
                                   const Section* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                                   const MPI_Fint* direction, const MPI_Fint* disp, const MPI_Fint* comm,
                                   const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror, [&](MPI_Request* to) {
      return refuse_init("MPI_Cart_shift_xchg_init", wrong, comm_of(comm), to);
    });
  pmpi_cart_shift_xchg_init_(sendbuf->address, sendcount, sendtype, recvbuf->address, recvcount, recvtype, direction,
                             disp, comm, info, request, ierror);
}

decltype(pmpi_cart_shift_xchg_) mpi_cart_shift_xchg_ FAB_FORTRAN_PROFILED(mpi_cart_shift_xchg_);
decltype(pmpi_icart_shift_xchg_) mpi_icart_shift_xchg_ FAB_FORTRAN_PROFILED(mpi_icart_shift_xchg_);
decltype(pmpi_cart_shift_xchg_init_) mpi_cart_shift_xchg_init_ FAB_FORTRAN_PROFILED(mpi_cart_shift_xchg_init_);

decltype(pmpi_cart_shift_xchg_) mpi_cart_shift_xchg_f08_ FAB_FORTRAN_ALIAS(pmpi_cart_shift_xchg_);
decltype(mpi_icart_shift_xchg_fts_) mpi_icart_shift_xchg_f08ts_ FAB_FORTRAN_ALIAS(mpi_icart_shift_xchg_fts_);
decltype(mpi_cart_shift_xchg_init_fts_) mpi_cart_shift_xchg_init_f08ts_
    FAB_FORTRAN_ALIAS(mpi_cart_shift_xchg_init_fts_);

}  // extern "C"
