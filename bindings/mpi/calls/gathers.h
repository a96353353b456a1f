// Gather, scatter, allgather and their v-forms as calls for three_forms.h.
#pragma once

#include "bindings/mpi/calls/sides.h"
#include "bindings/mpi/requests/exchange.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/calls/gather_calls.h"

namespace fab::mpi {

/// Makes the blocks of all ranks out of one side.
using Blocks = collectives::BlockList(const Side&, std::size_t);

/// The root has the blocks of all ranks on the side `all`; every rank has its own on the other one.
inline auto rooted(Collective collective, int root, const Side& all, const Side& own, Blocks* blocks) {
  return [=](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    using collectives::BlockList;
    const bool gathers = collective == Collective::gather || collective == Collective::gatherv;
    const bool is_root = core.rank() == root;
    const bool in_place = is_root && is_in_place(own);
    const BlockList own_list = in_place ? BlockList{} : equal_blocks(own, 1);
    const BlockList all_list = is_root ? blocks(all, static_cast<std::size_t>(core.size())) : BlockList{};
    const void* const own_memory = in_place ? nullptr : own.buffer;
    const void* const all_memory = is_root ? all.buffer : nullptr;
    const auto call = collectives::gather_call({.collective = collective,
                                                .rank = core.rank(),
                                                .ranks = core.size(),
                                                .root = root,
                                                .in_place = in_place,
                                                .send = gathers ? own_list : all_list,
                                                .recv = gathers ? all_list : own_list});
    return then(gathers ? own_memory : all_memory, const_cast<void*>(gathers ? all_memory : own_memory), call);
  };
}

inline auto unrooted(Collective collective, const Side& send, const Side& recv, Blocks* blocks) {
  return [=](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    const bool in_place = is_in_place(send);
    const auto call = collectives::gather_call({.collective = collective,
                                                .rank = core.rank(),
                                                .ranks = core.size(),
                                                .in_place = in_place,
                                                .send = in_place ? collectives::BlockList{} : equal_blocks(send, 1),
                                                .recv = blocks(recv, static_cast<std::size_t>(core.size()))});
    return then(in_place ? nullptr : send.buffer, memory_of(recv), call);
  };
}

[[gnu::always_inline]] inline auto equal_rooted(Collective collective, int root, const Side& send, const Side& recv) {
  const bool gathers = collective == Collective::gather;
  return Repeating({.kind = collectives::key_of(collective), .number = root, .send = said(send), .recv = said(recv)},
                   rooted(collective, root, gathers ? recv : send, gathers ? send : recv, equal_blocks));
}

[[gnu::always_inline]] inline auto gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                          int recvcount, MPI_Datatype recvtype, int root) {
  return equal_rooted(Collective::gather, root, equal_side("send", sendbuf, sendcount, sendtype),
                      equal_side("recv", recvbuf, recvcount, recvtype));
}

/// The side `all` has a count and a displacement for each rank.
inline auto varied_rooted(Collective collective, int root, const Side& send, const Side& recv) {
  const bool gathers = collective == Collective::gatherv;
  const auto blocks = [=](const core::Communicator& core) -> CountedBlocks {
    const std::size_t all = core.rank() == root ? static_cast<std::size_t>(core.size()) : 0;
    return {gathers ? 0 : all, gathers ? all : 0};
  };
  return RepeatingWithCounts(
      {.kind = collectives::key_of(collective), .number = root, .send = said(send), .recv = said(recv)}, blocks,
      rooted(collective, root, gathers ? recv : send, gathers ? send : recv, varied_blocks));
}

inline auto gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, int root) {
  return varied_rooted(Collective::gatherv, root, equal_side("send", sendbuf, sendcount, sendtype),
                       varied_side("recv", recvbuf, recvcounts, displs, recvtype));
}

[[gnu::always_inline]] inline auto scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                           int recvcount, MPI_Datatype recvtype, int root) {
  return equal_rooted(Collective::scatter, root, equal_side("send", sendbuf, sendcount, sendtype),
                      equal_side("recv", recvbuf, recvcount, recvtype));
}

inline auto scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                     void* recvbuf, int recvcount, MPI_Datatype recvtype, int root) {
  return varied_rooted(Collective::scatterv, root, varied_side("send", sendbuf, sendcounts, displs, sendtype),
                       equal_side("recv", recvbuf, recvcount, recvtype));
}

[[gnu::always_inline]] inline auto allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                             int recvcount, MPI_Datatype recvtype) {
  const Side send = equal_side("send", sendbuf, sendcount, sendtype);
  const Side recv = equal_side("recv", recvbuf, recvcount, recvtype);
  return Repeating({.kind = collectives::key_of(Collective::allgather), .send = said(send), .recv = said(recv)},
                   unrooted(Collective::allgather, send, recv, equal_blocks));
}

inline auto allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                       const int displs[], MPI_Datatype recvtype) {
  const Side send = equal_side("send", sendbuf, sendcount, sendtype);
  const Side recv = varied_side("recv", recvbuf, recvcounts, displs, recvtype);
  const auto blocks = [](const core::Communicator& core) -> CountedBlocks {
    return {.recv = static_cast<std::size_t>(core.size())};
  };
  return RepeatingWithCounts(
      {.kind = collectives::key_of(Collective::allgatherv), .send = said(send), .recv = said(recv)}, blocks,
      unrooted(Collective::allgatherv, send, recv, varied_blocks));
}

}  // namespace fab::mpi
