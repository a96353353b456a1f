// The standard's neighbourhood collectives (MPI-4.1, section 8.6) as calls for three_forms.h, on communicators with a
// topology.
#pragma once

#include "bindings/mpi/calls/sides.h"
#include "bindings/mpi/requests/exchange.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/neighbor/neighbor_collective.h"

namespace fab::mpi {

/// send_blocks(side, n), recv_blocks(side, n) make the list of one side's n blocks.
template <class SendSide, class RecvSide, class SendBlocks, class RecvBlocks>
auto neighbor_collective(collectives::NeighborCall kind, const SendSide& send, const RecvSide& recv,
                         SendBlocks send_blocks, RecvBlocks recv_blocks) {
  return [=](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    using collectives::NeighborCall;
    const auto count = collectives::standard_blocks(*core.topology(), core.neighborhood());
    const bool gathers = kind == NeighborCall::allgather || kind == NeighborCall::allgatherv;
    const collectives::NeighborCollective call{kind, send_blocks(send, gathers ? 1 : count.send),
                                               recv_blocks(recv, count.recv)};
    return then(send.buffer, memory_of(recv), call);
  };
}

[[gnu::always_inline]] inline auto neighbor_collective(collectives::NeighborCall kind, const Side& send,
                                                       const Side& recv) {
  return Repeating({.kind = static_cast<std::uint64_t>(collectives::Call::neighbor_collective),
                    .number = static_cast<int>(kind),
                    .send = said(send),
                    .recv = said(recv)},
                   neighbor_collective(kind, send, recv, equal_blocks, equal_blocks));
}

[[gnu::always_inline]] inline auto neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                      void* recvbuf, int recvcount, MPI_Datatype recvtype) {
  return neighbor_collective(collectives::NeighborCall::allgather, equal_side("send", sendbuf, sendcount, sendtype),
                             equal_side("recv", recvbuf, recvcount, recvtype));
}

/// Blocks differ, on the receiving side at least.
template <class SendBlocks>
auto varied_neighbor_collective(collectives::NeighborCall kind, const Side& send, const Side& recv,
                                SendBlocks send_blocks) {
  const auto blocks = [](const core::Communicator& core) -> CountedBlocks {
    const auto count = collectives::standard_blocks(*core.topology(), core.neighborhood());
    return {count.send, count.recv};
  };
  return RepeatingWithCounts({.kind = static_cast<std::uint64_t>(collectives::Call::neighbor_collective),
                              .number = static_cast<int>(kind),
                              .send = said(send),
                              .recv = said(recv)},
                             blocks, neighbor_collective(kind, send, recv, send_blocks, varied_blocks));
}

inline auto neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], MPI_Datatype recvtype) {
  return varied_neighbor_collective(collectives::NeighborCall::allgatherv,
                                    equal_side("send", sendbuf, sendcount, sendtype),
                                    varied_side("recv", recvbuf, recvcounts, displs, recvtype), equal_blocks);
}

[[gnu::always_inline]] inline auto neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                     void* recvbuf, int recvcount, MPI_Datatype recvtype) {
  return neighbor_collective(collectives::NeighborCall::alltoall, equal_side("send", sendbuf, sendcount, sendtype),
                             equal_side("recv", recvbuf, recvcount, recvtype));
}

inline auto neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype) {
  return varied_neighbor_collective(collectives::NeighborCall::alltoallv,
                                    varied_side("send", sendbuf, sendcounts, sdispls, sendtype),
                                    varied_side("recv", recvbuf, recvcounts, rdispls, recvtype), varied_blocks);
}

inline auto neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                               const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]) {
  return neighbor_collective(collectives::NeighborCall::alltoallv, sent_side(sendbuf, sendcounts, sdispls, sendtypes),
                             received_side(recvbuf, recvcounts, rdispls, recvtypes), typed_blocks<MPI_Aint>,
                             typed_blocks<MPI_Aint>);
}

}  // namespace fab::mpi
