// Gather, scatter and allgather with their v-forms.
#include "bindings/nbc/starting.h"
#include "collectives/gather_calls.h"

namespace fab::nbc {

namespace {

using fab::mpi::equal_blocks;
using fab::mpi::is_in_place;

/// Makes the blocks of all ranks out of one side.
using Blocks = BlockList(const Side&, std::size_t);

BlockList one(const Side& side) { return equal_blocks(side, 1); }

/// The root has the blocks of all ranks on the side `all`; every rank has its own on the other one.
core::Run& start_rooted(core::Communicator& core, Collective collective, int root, const Side& all, const Side& own,
                        Blocks* blocks) {
  const bool gathers = collective == Collective::gather || collective == Collective::gatherv;
  const bool is_root = core.rank() == root;
  const bool in_place = is_root && is_in_place(own);
  const BlockList own_list = in_place ? BlockList{} : one(own);
  const BlockList all_list = is_root ? blocks(all, ranks_of(core)) : BlockList{};
  const void* const own_memory = in_place ? nullptr : own.buffer;
  const void* const all_memory = is_root ? all.buffer : nullptr;
  const CollectiveCall call = collectives::gather_call({.collective = collective,
                                                        .rank = core.rank(),
                                                        .ranks = core.size(),
                                                        .root = root,
                                                        .in_place = in_place,
                                                        .send = gathers ? own_list : all_list,
                                                        .recv = gathers ? all_list : own_list});
  return start_call(core, gathers ? own_memory : all_memory, const_cast<void*>(gathers ? all_memory : own_memory),
                    call);
}

core::Run& start_unrooted(core::Communicator& core, Collective collective, const Side& send, const Side& recv,
                          Blocks* blocks) {
  const bool in_place = is_in_place(send);
  const CollectiveCall call = collectives::gather_call({.collective = collective,
                                                        .rank = core.rank(),
                                                        .ranks = core.size(),
                                                        .in_place = in_place,
                                                        .send = in_place ? BlockList{} : one(send),
                                                        .recv = blocks(recv, ranks_of(core))});
  return start_call(core, in_place ? nullptr : send.buffer, mpi::memory_of(recv), call);
}

int begin_rooted(const char* name, Collective collective, int root, const Side& all, const Side& own, Blocks* blocks,
                 MPI_Comm comm, NBC_Handle* handle) noexcept {
  return begin(name, comm, handle, [&](core::Communicator& core, Kept&) -> core::Run& {
    return start_rooted(core, collective, root, all, own, blocks);
  });
}

int begin_unrooted(const char* name, Collective collective, const Side& send, const Side& recv, Blocks* blocks,
                   MPI_Comm comm, NBC_Handle* handle) noexcept {
  return begin(name, comm, handle, [&](core::Communicator& core, Kept&) -> core::Run& {
    return start_unrooted(core, collective, send, recv, blocks);
  });
}

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;
using fab::Collective;
using fab::mpi::varied_blocks;

int NBC_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return begin_rooted("NBC_Igather", Collective::gather, root, recv, send, equal_blocks, comm, handle);
}

int NBC_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .counts = recvcounts, .displacements = displs};
  return begin_rooted("NBC_Igatherv", Collective::gatherv, root, recv, send, varied_blocks, comm, handle);
}

int NBC_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return begin_rooted("NBC_Iscatter", Collective::scatter, root, send, recv, equal_blocks, comm, handle);
}

int NBC_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .counts = sendcounts, .displacements = displs};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return begin_rooted("NBC_Iscatterv", Collective::scatterv, root, send, recv, varied_blocks, comm, handle);
}

int NBC_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return begin_unrooted("NBC_Iallgather", Collective::allgather, send, recv, equal_blocks, comm, handle);
}

int NBC_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .counts = recvcounts, .displacements = displs};
  return begin_unrooted("NBC_Iallgatherv", Collective::allgatherv, send, recv, varied_blocks, comm, handle);
}
