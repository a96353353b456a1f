// MPI_Neighbor_xchgw in its three forms: blocks with a datatype each.
#include "bindings/mpi/calls/neighbor_blocks.h"
#include "bindings/mpi/calls/profiled.h"
#include "bindings/mpi/calls/three_forms.h"
#include "bindings/mpi/calls/typed_views.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

auto typed(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
           void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]) {
  return neighbor_blocks(TypedSide<MPI_Aint>{"send", sendbuf, sendcounts, sdispls, sendtypes, &send_views},
                         TypedSide<MPI_Aint>{"recv", recvbuf, recvcounts, rdispls, recvtypes, &recv_views},
                         typed_blocks<MPI_Aint>);
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

int PMPI_Neighbor_xchgw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return blocking("MPI_Neighbor_xchgw", comm,
                  typed(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes));
}

int PMPI_Ineighbor_xchgw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                         MPI_Request* request) {
  return non_blocking("MPI_Ineighbor_xchgw", comm, request,
                      typed(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes));
}

int PMPI_Neighbor_xchgw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info,
                             MPI_Request* request) {
  return persistent("MPI_Neighbor_xchgw_init", comm, request,
                    typed(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes));
}

extern "C" {
int MPI_Neighbor_xchgw(const void*, const int[], const MPI_Aint[], const MPI_Datatype[], void*, const int[],
                       const MPI_Aint[], const MPI_Datatype[], MPI_Comm) FAB_PROFILED(MPI_Neighbor_xchgw);
int MPI_Ineighbor_xchgw(const void*, const int[], const MPI_Aint[], const MPI_Datatype[], void*, const int[],
                        const MPI_Aint[], const MPI_Datatype[], MPI_Comm, MPI_Request*)
    FAB_PROFILED(MPI_Ineighbor_xchgw);
int MPI_Neighbor_xchgw_init(const void*, const int[], const MPI_Aint[], const MPI_Datatype[], void*, const int[],
                            const MPI_Aint[], const MPI_Datatype[], MPI_Comm, MPI_Info, MPI_Request*)
    FAB_PROFILED(MPI_Neighbor_xchgw_init);
}
