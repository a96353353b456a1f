// All-to-all exchanges.
#include <fmt/format.h>

#include <vector>

#include "bindings/nbc/starting.h"
#include "collectives/exchange_calls.h"

using namespace fab::nbc;
namespace core = fab::core;
namespace collectives = fab::collectives;
namespace mpi = fab::mpi;

namespace {

CollectiveCall unequal(const core::Communicator& core, const BlockList& send, const BlockList& recv, bool in_place) {
  return in_place ? collectives::alltoallv_call(recv, core.size())
                  : collectives::alltoallv_call(send, recv, core.size());
}

}  // namespace

int NBC_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return begin("NBC_Ialltoall", comm, handle, [&](core::Communicator& core, Kept&) -> core::Run& {
    const bool in_place = mpi::is_in_place(send);
    CollectiveCall call{.collective = fab::Collective::alltoall, .in_place = in_place};
    call.recv = mpi::equal_blocks(recv, ranks_of(core));
    call.send = in_place ? call.recv : mpi::equal_blocks(send, ranks_of(core));
    call.bytes = call.recv[0].bytes();
    if (call.send[0].bytes() != call.bytes)
      throw Failure(MPI_ERR_COUNT, fmt::format("a block has {} bytes to send and {} to receive; they must be equal",
                                               call.send[0].bytes(), call.bytes));
    return start_call(core, in_place ? nullptr : sendbuf, recvbuf, call);
  });
}

int NBC_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   NBC_Handle* handle) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .counts = sendcounts, .displacements = sdispls};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .counts = recvcounts, .displacements = rdispls};
  return begin("NBC_Ialltoallv", comm, handle, [&](core::Communicator& core, Kept&) -> core::Run& {
    const bool in_place = mpi::is_in_place(send);
    const BlockList into = mpi::varied_blocks(recv, ranks_of(core));
    const BlockList from = in_place ? BlockList{} : mpi::varied_blocks(send, ranks_of(core));
    return start_call(core, in_place ? nullptr : sendbuf, recvbuf, unequal(core, from, into, in_place));
  });
}

int NBC_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, NBC_Handle* handle) {
  std::vector<BlockView> sent;
  std::vector<BlockView> received;
  const mpi::TypedSide<int> send{"send", sendbuf, sendcounts, sdispls, sendtypes, &sent};
  const mpi::TypedSide<int> recv{"recv", recvbuf, recvcounts, rdispls, recvtypes, &received};
  return begin("NBC_Ialltoallw", comm, handle, [&](core::Communicator& core, Kept&) -> core::Run& {
    const bool in_place = mpi::is_in_place(send);
    const BlockList into = mpi::typed_blocks(recv, ranks_of(core));
    const BlockList from = in_place ? BlockList{} : mpi::typed_blocks(send, ranks_of(core));
    return start_call(core, in_place ? nullptr : sendbuf, recvbuf, unequal(core, from, into, in_place));
  });
}
