// MPI_Pneighbor_xchg_init, and the marks of its parts, in the manner of partitioned communication (MPI-4.1, chapter 4).
#include <fmt/core.h>

#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/calls/profiled.h"
#include "bindings/mpi/calls/sides.h"
#include "bindings/mpi/calls/three_forms.h"
#include "collectives/neighbor/partitioned_edges.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

collectives::BlockView first_part(const Side& side, std::size_t neighbors, int partitions) {
  const collectives::BlockList parts = equal_blocks(side, neighbors * static_cast<std::size_t>(partitions));
  static const Layout kNothing;
  return neighbors == 0 ? collectives::BlockView{.element = &kNothing} : parts[0];
}

auto in_partitions(const Side& send, const Side& recv, int partitions) {
  return [send, recv, partitions](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    if (partitions < 1) throw Failure(MPI_ERR_ARG, fmt::format("partitions is {}; valid are 1 and more", partitions));
    const Neighborhood& edges = core.neighborhood();
    const collectives::PartitionedXchg call{.parts = static_cast<std::size_t>(partitions),
                                            .send_part = first_part(send, edges.destinations.size(), partitions),
                                            .recv_part = first_part(recv, edges.sources.size(), partitions)};
    return then(send.buffer, memory_of(recv), call);
  };
}

/// The persistent exchange of a request. Throws Failure.
core::Persistent& exchange_of(MPI_Request request) {
  Exchange* const exchange = request == MPI_REQUEST_NULL ? nullptr : find_exchange(request);
  if (exchange == nullptr || !exchange->persistent())
    throw Failure(MPI_ERR_REQUEST, "the request is not of MPI_Pneighbor_xchg_init");
  return exchange->persistent_exchange();
}

MPI_Comm comm_of(MPI_Request request) {
  Exchange* const exchange = request == MPI_REQUEST_NULL ? nullptr : find_exchange(request);
  return exchange == nullptr || !exchange->persistent() ? MPI_COMM_NULL : exchange->comm();
}

std::size_t index_of(const char* name, int value) {
  if (value < 0) throw Failure(MPI_ERR_ARG, fmt::format("{} is {}; valid are 0 and more", name, value));
  return static_cast<std::size_t>(value);
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

int PMPI_Pneighbor_xchg_init(const void* sendbuf, int partitions, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return persistent("MPI_Pneighbor_xchg_init", comm, request,
                    in_partitions(equal_side("send", sendbuf, sendcount, sendtype),
                                  equal_side("recv", recvbuf, recvcount, recvtype), partitions));
}

int PMPI_Neighbor_pready(int destination, int partition, MPI_Request request) {
  return guarded("MPI_Neighbor_pready", comm_of(request), [&] {
    exchange_of(request).ready(index_of("destination", destination), index_of("partition", partition));
  });
}

int PMPI_Neighbor_parrived(MPI_Request request, int source, int partition, int* flag) {
  return guarded("MPI_Neighbor_parrived", comm_of(request), [&] {
    if (flag == nullptr) throw Failure(MPI_ERR_ARG, "flag is a null pointer");
    fab::Status status;
    const bool arrived =
        exchange_of(request).arrived(index_of("source", source), index_of("partition", partition), status);
    if (!status.ok()) throw fab::Error(status.errc(), status.message);
    *flag = arrived ? 1 : 0;
  });
}

extern "C" {
int MPI_Pneighbor_xchg_init(const void*, int, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info,
                            MPI_Request*) FAB_PROFILED(MPI_Pneighbor_xchg_init);
int MPI_Neighbor_pready(int, int, MPI_Request) FAB_PROFILED(MPI_Neighbor_pready);
int MPI_Neighbor_parrived(MPI_Request, int, int, int*) FAB_PROFILED(MPI_Neighbor_parrived);
}
