// MPI_Cart_shift_xchg in its three forms.
#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/calls/profiled.h"
#include "bindings/mpi/calls/three_forms.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

auto shift(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, int direction, int displacement) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return
      [send, recv, direction, displacement](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
        check_direction(core, direction);
        const bool in_place = is_in_place(send);
        const collectives::CartShiftXchg call{.send = in_place ? collectives::BlockView{} : single_block(send),
                                              .recv = single_block(recv),
                                              .dimension = direction,
                                              .displacement = displacement,
                                              .in_place = in_place};
        return then(in_place ? nullptr : send.buffer, memory_of(recv), call);
      };
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

int PMPI_Cart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm) {
  return blocking("MPI_Cart_shift_xchg", comm,
                  shift(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, direction, disp));
}

int PMPI_Icart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Request* request) {
  return non_blocking("MPI_Icart_shift_xchg", comm, request,
                      shift(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, direction, disp));
}

int PMPI_Cart_shift_xchg_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Info,
                              MPI_Request* request) {
  return persistent("MPI_Cart_shift_xchg_init", comm, request,
                    shift(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, direction, disp));
}

extern "C" {
int MPI_Cart_shift_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, int, MPI_Comm)
    FAB_PROFILED(MPI_Cart_shift_xchg);
int MPI_Icart_shift_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)
    FAB_PROFILED(MPI_Icart_shift_xchg);
int MPI_Cart_shift_xchg_init(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                             MPI_Request*) FAB_PROFILED(MPI_Cart_shift_xchg_init);
}
