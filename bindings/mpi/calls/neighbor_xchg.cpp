// The exchanges under MPI's names.
#include "collectives/neighbor/neighbor_xchg.h"

#include <fmt/format.h>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/interception/reach.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "bindings/mpi/requests/completed_by_mpi.h"
#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/idle.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "core/communicator/refused_call.h"
#include "core/run/wait.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

using collectives::BlockList;

/// What is done with a call once its arguments are understood: it is started, under the engine's lock.
struct Start {
  core::Communicator& core;

  core::Run& operator()(const void* send, void* recv, const collectives::NeighborXchg& call) const {
    const core::Lock lock(core.engine().mutex);
    return collectives::start_neighbor_xchg(core, send, recv, call);
  }
  core::Run& operator()(const void* send, void* recv, const collectives::CartShiftXchg& call) const {
    const core::Lock lock(core.engine().mutex);
    return collectives::start_cart_shift_xchg(core, send, recv, call);
  }
};

/// Or it is made persistent.
struct Make {
  const std::shared_ptr<core::Communicator>& core;

  core::Persistent operator()(const void* send, void* recv, const collectives::NeighborXchg& call) const {
    return collectives::make_neighbor_xchg(core, send, recv, call);
  }
  core::Persistent operator()(const void* send, void* recv, const collectives::CartShiftXchg& call) const {
    return collectives::make_cart_shift_xchg(core, send, recv, call);
  }
};

/// An exchange; `blocks` makes the BlockList of one side.
template <class Blocks>
auto xchg(const Side& send, const Side& recv, Blocks&& blocks) {
  return [&send, &recv, &blocks](const core::Communicator& core, const auto& then) -> decltype(auto) {
    const bool in_place = is_in_place(send);
    const Neighborhood& edges = core.neighborhood();
    const collectives::NeighborXchg call{.send = in_place ? BlockList{} : blocks(send, edges.destinations.size()),
                                         .recv = blocks(recv, edges.sources.size()),
                                         .in_place = in_place};
    return then(in_place ? nullptr : send.buffer, const_cast<void*>(recv.buffer), call);
  };
}

auto shift(const Side& send, const Side& recv, int direction, int displacement) {
  return [&send, &recv, direction, displacement](const core::Communicator& core, const auto& then) -> decltype(auto) {
    check_direction(core, direction);
    const bool in_place = is_in_place(send);
    const collectives::CartShiftXchg call{.send = in_place ? collectives::BlockView{} : single_block(send),
                                          .recv = single_block(recv),
                                          .dimension = direction,
                                          .displacement = displacement,
                                          .in_place = in_place};
    return then(in_place ? nullptr : send.buffer, const_cast<void*>(recv.buffer), call);
  };
}

[[noreturn]] void raise(const Status& status) {
  note_failure();
  throw Error(status.errc(), status.message);
}

/// Starts and waits, with no thread hand-over and nothing allocated where the plan exists.
template <class Call>
int blocking(const char* name, MPI_Comm comm, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    core::Communicator& core = *attachment_with_topology(comm).core;
    core::Run& run = core::in_order(core, [&]() -> core::Run& { return call(core, Start{core}); });
    if (const Status status = core::complete(run, next_idle_hook()); !status.ok()) raise(status);
  });
}

void check_request(const MPI_Request* request) {
  if (request == nullptr) throw Failure(MPI_ERR_ARG, "request is a null pointer");
}

template <class Call>
int non_blocking(const char* name, MPI_Comm comm, MPI_Request* request, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    Attachment& attachment = attachment_with_topology(comm);
    core::Communicator& core = *attachment.core;
    CompletedBy completed_by = CompletedBy::fab;
    core::Run& run = core::in_order(core, [&]() -> core::Run& {
      check_request(request);
      completed_by = who_completes();
      return call(core, Start{core});
    });
    attachment.core->engine().leave();
    *request = completed_by == CompletedBy::fab ? make_request(name, attachment, run)
                                                : make_request_for_mpi(name, attachment, run);
  });
}

template <class Call>
int persistent(const char* name, MPI_Comm comm, MPI_Request* request, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    Attachment& attachment = attachment_with_topology(comm);
    core::Persistent exchange = core::in_order_of_lasting(*attachment.core, [&] {
      check_request(request);
      require_completion_by_fab();
      return call(*attachment.core, Make{attachment.core});
    });
    *request = make_request(name, attachment, std::move(exchange));
  });
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

int PMPI_Neighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return blocking("MPI_Neighbor_xchg", comm, xchg(send, recv, equal_blocks));
}

int PMPI_Ineighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return non_blocking("MPI_Ineighbor_xchg", comm, request, xchg(send, recv, equal_blocks));
}

int PMPI_Neighbor_xchg_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return persistent("MPI_Neighbor_xchg_init", comm, request, xchg(send, recv, equal_blocks));
}

int PMPI_Neighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .counts = sendcounts, .displacements = sdispls};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .counts = recvcounts, .displacements = rdispls};
  return blocking("MPI_Neighbor_xchgv", comm, xchg(send, recv, varied_blocks));
}

int PMPI_Ineighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                         void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Request* request) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .counts = sendcounts, .displacements = sdispls};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .counts = recvcounts, .displacements = rdispls};
  return non_blocking("MPI_Ineighbor_xchgv", comm, request, xchg(send, recv, varied_blocks));
}

int PMPI_Neighbor_xchgv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Info, MPI_Request* request) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .counts = sendcounts, .displacements = sdispls};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .counts = recvcounts, .displacements = rdispls};
  return persistent("MPI_Neighbor_xchgv_init", comm, request, xchg(send, recv, varied_blocks));
}

int PMPI_Cart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return blocking("MPI_Cart_shift_xchg", comm, shift(send, recv, direction, disp));
}

int PMPI_Icart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Request* request) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return non_blocking("MPI_Icart_shift_xchg", comm, request, shift(send, recv, direction, disp));
}

int PMPI_Cart_shift_xchg_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Info,
                              MPI_Request* request) {
  const Side send{.name = "send", .buffer = sendbuf, .type = sendtype, .count = sendcount};
  const Side recv{.name = "recv", .buffer = recvbuf, .type = recvtype, .count = recvcount};
  return persistent("MPI_Cart_shift_xchg_init", comm, request, shift(send, recv, direction, disp));
}

// The PMPI_ functions are the real ones, so that a profiler can stand in for the MPI_ ones.
#define FAB_PROFILED(name) __attribute__((weak, alias("P" #name)))
extern "C" {
int MPI_Neighbor_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm)
    FAB_PROFILED(MPI_Neighbor_xchg);
int MPI_Ineighbor_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*)
    FAB_PROFILED(MPI_Ineighbor_xchg);
int MPI_Neighbor_xchgv(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                       MPI_Datatype, MPI_Comm) FAB_PROFILED(MPI_Neighbor_xchgv);
int MPI_Ineighbor_xchgv(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                        MPI_Datatype, MPI_Comm, MPI_Request*) FAB_PROFILED(MPI_Ineighbor_xchgv);
int MPI_Cart_shift_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, int, MPI_Comm)
    FAB_PROFILED(MPI_Cart_shift_xchg);
int MPI_Icart_shift_xchg(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)
    FAB_PROFILED(MPI_Icart_shift_xchg);
int MPI_Neighbor_xchg_init(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*)
    FAB_PROFILED(MPI_Neighbor_xchg_init);
int MPI_Neighbor_xchgv_init(const void*, const int[], const int[], MPI_Datatype, void*, const int[], const int[],
                            MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*) FAB_PROFILED(MPI_Neighbor_xchgv_init);
int MPI_Cart_shift_xchg_init(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                             MPI_Request*) FAB_PROFILED(MPI_Cart_shift_xchg_init);
}
