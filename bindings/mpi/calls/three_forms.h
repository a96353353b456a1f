// The three forms of a call along a topology, written once: blocking, non-blocking and persistent.
//
// A call is a function object `call(core, then)`. It checks the user's arguments against the communicator, describes
// the exchange, and returns then(send, recv, exchange): `then` starts the exchange, or makes it persistent.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/interception/reach.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "bindings/mpi/requests/completed_by_mpi.h"
#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/idle.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "core/communicator/refused_call.h"
#include "core/run/wait.h"

namespace fab::mpi {

/// Starts an exchange, under the engine's lock.
struct Start {
  core::Communicator& core;

  core::Run& operator()(const void* send, void* recv, const collectives::NeighborXchg& call) const {
    const core::Lock lock(core.engine());
    return collectives::start_neighbor_xchg(core, send, recv, call);
  }
  core::Run& operator()(const void* send, void* recv, const collectives::CartShiftXchg& call) const {
    const core::Lock lock(core.engine());
    return collectives::start_cart_shift_xchg(core, send, recv, call);
  }
};

/// Makes it persistent.
struct Make {
  const std::shared_ptr<core::Communicator>& core;

  core::Persistent operator()(const void* send, void* recv, const collectives::NeighborXchg& call) const {
    return collectives::make_neighbor_xchg(core, send, recv, call);
  }
  core::Persistent operator()(const void* send, void* recv, const collectives::CartShiftXchg& call) const {
    return collectives::make_cart_shift_xchg(core, send, recv, call);
  }
};

/// Starts and waits, with no thread hand-over and nothing allocated where the plan exists.
template <class Call>
int blocking(const char* name, MPI_Comm comm, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    core::Communicator& core = *attachment_with_topology(comm).core;
    core::Run& run = core::in_order(core, [&]() -> core::Run& { return call(core, Start{core}); });
    const Status status = core::complete(run, next_idle_hook());
    if (status.ok()) return;
    note_failure();
    throw Error(status.errc(), status.message);
  });
}

inline void check_request(const MPI_Request* request) {
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
    core.engine().hand_over_progress();
    *request = completed_by == CompletedBy::fab ? make_request(name, attachment, run)
                                                : make_request_for_mpi(name, attachment, run);
  });
}

template <class Call>
int persistent(const char* name, MPI_Comm comm, MPI_Request* request, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    Attachment& attachment = attachment_with_topology(comm);
    core::Persistent exchange = core::in_order_of_persistent(*attachment.core, [&] {
      check_request(request);
      require_completion_by_fab();
      return call(*attachment.core, Make{attachment.core});
    });
    *request = make_request(name, attachment, std::move(exchange));
  });
}

}  // namespace fab::mpi
