// MPI_Neighbor_xchg and MPI_Neighbor_xchgv in their three forms: blocks of one datatype.
#include "bindings/mpi/calls/neighbor_blocks.h"
#include "bindings/mpi/calls/profiled.h"
#include "bindings/mpi/calls/repeating.h"
#include "bindings/mpi/calls/sides.h"
#include "bindings/mpi/calls/three_forms.h"
#include "collectives/calls/call_kinds.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

// Function objects, so that the compiler sees which function is called.
constexpr auto kEqualBlocks = [](const Side& side, std::size_t blocks) { return equal_blocks(side, blocks); };
constexpr auto kVariedBlocks = [](const Side& side, std::size_t blocks) { return varied_blocks(side, blocks); };

[[gnu::always_inline]] inline auto equal(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         int recvcount, MPI_Datatype recvtype) {
  const Side send = equal_side("send", sendbuf, sendcount, sendtype);
  const Side recv = equal_side("recv", recvbuf, recvcount, recvtype);
  constexpr auto kKind = static_cast<std::uint64_t>(collectives::Call::neighbor_xchg);
  return Repeating({.kind = kKind, .send = said(send), .recv = said(recv)}, neighbor_blocks(send, recv, kEqualBlocks));
}

auto varied(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype) {
  const Side send = varied_side("send", sendbuf, sendcounts, sdispls, sendtype);
  const Side recv = varied_side("recv", recvbuf, recvcounts, rdispls, recvtype);
  constexpr auto kKind = static_cast<std::uint64_t>(collectives::Call::neighbor_xchg);
  const auto blocks = [in_place = is_in_place(send)](const core::Communicator& core) -> CountedBlocks {
    const Neighborhood& edges = core.neighborhood();
    return {in_place ? 0 : edges.destinations.size(), edges.sources.size()};
  };
  return RepeatingWithCounts({.kind = kKind, .send = said(send), .recv = said(recv)}, blocks,
                             neighbor_blocks(send, recv, kVariedBlocks));
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

int PMPI_Neighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm) {
  return blocking("MPI_Neighbor_xchg", comm, equal(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int PMPI_Ineighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return non_blocking("MPI_Ineighbor_xchg", comm, request,
                      equal(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int PMPI_Neighbor_xchg_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return persistent("MPI_Neighbor_xchg_init", comm, request,
                    equal(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int PMPI_Neighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm) {
  return blocking("MPI_Neighbor_xchgv", comm,
                  varied(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));
}

int PMPI_Ineighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                         void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Request* request) {
  return non_blocking("MPI_Ineighbor_xchgv", comm, request,
                      varied(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));
}

int PMPI_Neighbor_xchgv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return persistent("MPI_Neighbor_xchgv_init", comm, request,
                    varied(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));
}

extern "C" {
int MPI_Neighbor_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm)
    FAB_PROFILED(MPI_Neighbor_xchg);
int MPI_Ineighbor_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*)
    FAB_PROFILED(MPI_Ineighbor_xchg);
int MPI_Neighbor_xchgv(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                       MPI_Datatype, MPI_Comm) FAB_PROFILED(MPI_Neighbor_xchgv);
int MPI_Ineighbor_xchgv(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                        MPI_Datatype, MPI_Comm, MPI_Request*) FAB_PROFILED(MPI_Ineighbor_xchgv);
int MPI_Neighbor_xchg_init(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*)
    FAB_PROFILED(MPI_Neighbor_xchg_init);
int MPI_Neighbor_xchgv_init(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                            MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*) FAB_PROFILED(MPI_Neighbor_xchgv_init);
}
