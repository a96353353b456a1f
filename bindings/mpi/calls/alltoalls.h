// All-to-all exchanges as calls for three_forms.h.
#pragma once

#include <fmt/core.h>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/calls/sides.h"
#include "bindings/mpi/requests/exchange.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/calls/exchange_calls.h"

namespace fab::mpi {

inline auto equal_alltoall(const Side& send, const Side& recv) {
  return [send, recv](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    const auto ranks = static_cast<std::size_t>(core.size());
    const bool in_place = is_in_place(send);
    collectives::CollectiveCall call{.collective = Collective::alltoall, .in_place = in_place};
    call.recv = equal_blocks(recv, ranks);
    call.send = in_place ? call.recv : equal_blocks(send, ranks);
    call.bytes = call.recv[0].bytes();
    if (call.send[0].bytes() != call.bytes)
      throw Failure(MPI_ERR_COUNT, fmt::format("a block has {} bytes to send and {} to receive; they must be equal",
                                               call.send[0].bytes(), call.bytes));
    return then(in_place ? nullptr : send.buffer, memory_of(recv), call);
  };
}

[[gnu::always_inline]] inline auto alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                            int recvcount, MPI_Datatype recvtype) {
  const Side send = equal_side("send", sendbuf, sendcount, sendtype);
  const Side recv = equal_side("recv", recvbuf, recvcount, recvtype);
  return Repeating({.kind = collectives::key_of(Collective::alltoall), .send = said(send), .recv = said(recv)},
                   equal_alltoall(send, recv));
}

/// blocks(side, n) makes the list of one side's n blocks.
template <class AnySide, class Blocks>
auto unequal_alltoall(const AnySide& send, const AnySide& recv, Blocks blocks) {
  return [send, recv, blocks](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    const auto ranks = static_cast<std::size_t>(core.size());
    const collectives::BlockList into = blocks(recv, ranks);
    if (is_in_place(send)) return then(nullptr, memory_of(recv), collectives::alltoallv_call(into, core.size()));
    return then(send.buffer, memory_of(recv), collectives::alltoallv_call(blocks(send, ranks), into, core.size()));
  };
}

inline auto alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                      void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype) {
  const Side send = varied_side("send", sendbuf, sendcounts, sdispls, sendtype);
  const Side recv = varied_side("recv", recvbuf, recvcounts, rdispls, recvtype);
  const auto blocks = [in_place = is_in_place(send)](const core::Communicator& core) -> CountedBlocks {
    const auto ranks = static_cast<std::size_t>(core.size());
    return {in_place ? 0 : ranks, ranks};
  };
  return RepeatingWithCounts(
      {.kind = collectives::key_of(Collective::alltoallv), .send = said(send), .recv = said(recv)}, blocks,
      unequal_alltoall(send, recv, varied_blocks));
}

inline auto alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                      void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[]) {
  return unequal_alltoall(sent_side(sendbuf, sendcounts, sdispls, sendtypes),
                          received_side(recvbuf, recvcounts, rdispls, recvtypes), typed_blocks<int>);
}

}  // namespace fab::mpi
