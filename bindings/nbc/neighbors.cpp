// Operations along a topology.
#include <span>
#include <vector>

#include "bindings/mpi/calls/neighbor_collectives.h"
#include "bindings/nbc/instance.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_xchg.h"

namespace fab::nbc {

namespace {

using collectives::BlockList;
using collectives::StandardBlocks;
using mpi::Side;

StandardBlocks blocks_of(const core::Communicator& core) {
  return collectives::standard_blocks(*core.topology(), core.neighborhood());
}

using Blocks = BlockList(const Side&, std::size_t);

/// The blocks of a list in the order of NBC_Comm_neighbors that belong to edges, in the order of the edges.
std::vector<BlockShape> of_edges(const BlockList& list, std::span<const std::size_t> order) {
  std::vector<BlockShape> blocks;
  for (const std::size_t i : order) blocks.push_back({list[i].offset, list[i].in(BufferId::recv).layout});
  return blocks;
}

core::Run& start_xchg(core::Communicator& core, const Side& send, const Side& recv, Blocks* blocks,
                      const mpi::Start& then) {
  const bool in_place = mpi::is_in_place(send);
  const auto order = collectives::standard_order(*core.topology(), core.neighborhood());
  const StandardBlocks count = blocks_of(core);
  const auto into = of_edges(blocks(recv, count.recv), order.sources);
  const auto from = in_place ? into : of_edges(blocks(send, count.send), order.destinations);
  const collectives::NeighborXchg call{
      .send = BlockList::general(from), .recv = BlockList::general(into), .in_place = in_place};
  return then(in_place ? nullptr : send.buffer, mpi::memory_of(recv), call);
}

int begin_xchg(const char* name, const Side& send, const Side& recv, Blocks* blocks, MPI_Comm comm,
               NBC_Handle* handle) noexcept {
  return begin_along(name, comm, handle, [&](core::Communicator& core, Kept&, const mpi::Start& then) -> core::Run& {
    return start_xchg(core, send, recv, blocks, then);
  });
}

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;
namespace core = fab::core;
namespace collectives = fab::collectives;
namespace mpi = fab::mpi;

int NBC_Ineighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  return begin_xchg("NBC_Ineighbor_xchg", mpi::equal_side("send", sendbuf, sendcount, sendtype),
                    mpi::equal_side("recv", recvbuf, recvcount, recvtype), mpi::equal_blocks, comm, handle);
}

int NBC_Ineighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, NBC_Handle* handle) {
  return begin_xchg("NBC_Ineighbor_xchgv", mpi::varied_side("send", sendbuf, sendcounts, sdispls, sendtype),
                    mpi::varied_side("recv", recvbuf, recvcounts, rdispls, recvtype), mpi::varied_blocks, comm, handle);
}

int NBC_Icart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return begin_along(
      "NBC_Icart_shift_xchg", comm, handle, [&](core::Communicator& core, Kept&, const mpi::Start& then) -> core::Run& {
        mpi::check_direction(core, direction);
        const bool in_place = mpi::is_in_place(send);
        const collectives::CartShiftXchg call{.send = in_place ? collectives::BlockView{} : mpi::single_block(send),
                                              .recv = mpi::single_block(recv),
                                              .dimension = direction,
                                              .displacement = disp,
                                              .in_place = in_place};
        return then(in_place ? nullptr : sendbuf, recvbuf, call);
      });
}

int NBC_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  return begin_along("NBC_Ineighbor_allgather", comm, handle,
                     mpi::neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int NBC_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             NBC_Handle* handle) {
  return begin_along("NBC_Ineighbor_allgatherv", comm, handle,
                     mpi::neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
}

int NBC_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  return begin_along("NBC_Ineighbor_alltoall", comm, handle,
                     mpi::neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int NBC_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, NBC_Handle* handle) {
  return begin_along(
      "NBC_Ineighbor_alltoallv", comm, handle,
      mpi::neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));
}

int NBC_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            NBC_Handle* handle) {
  return begin_along(
      "NBC_Ineighbor_alltoallw", comm, handle,
      mpi::neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes));
}
