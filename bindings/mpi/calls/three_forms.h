// The three forms of a call, written once: blocking, non-blocking and persistent.
//
// A call is a function object `call(core, kept, then)`. It checks the user's arguments against the communicator,
// describes the exchange, and returns then(send, recv, exchange): `then` starts the exchange, or makes it persistent.
// What must outlive the exchange goes into `kept`.
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
#include "collectives/calls/buffers.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_collective.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "collectives/neighbor/partitioned_edges.h"
#include "collectives/start.h"
#include "core/communicator/refused_call.h"
#include "core/run/wait.h"

namespace fab::mpi {

/// Starts an exchange, under the engine's lock, whose plan will be found by the brief, unless that is empty.
struct Start {
  core::Communicator& core;
  core::CallBrief brief{};
  const core::CallNumbers* numbers = nullptr;  ///< of calls that have some

  template <class Exchange>
  core::Run& operator()(const void* send, void* recv, const Exchange& call) const {
    const core::Lock lock(core.engine());
    return remembered(started(send, recv, call));
  }
  [[nodiscard]] static core::Run& begun(core::Run& run) noexcept { return run; }
  /// Of a run that was just started.
  [[nodiscard]] core::Run& remembered(core::Run& run) const FAB_REQUIRES(core::engine_lock) {
    core.remember(brief, {}, numbers);
    return run;
  }

  [[nodiscard]] core::Run& started(const void* send, void* recv, const collectives::NeighborXchg& call) const
      FAB_REQUIRES(core::engine_lock) {
    return collectives::start_neighbor_xchg(core, send, recv, call);
  }
  [[nodiscard]] core::Run& started(const void* send, void* recv, const collectives::CartShiftXchg& call) const
      FAB_REQUIRES(core::engine_lock) {
    return collectives::start_cart_shift_xchg(core, send, recv, call);
  }
  [[nodiscard]] core::Run& started(const void* send, void* recv, const collectives::NeighborCollective& call) const
      FAB_REQUIRES(core::engine_lock) {
    return collectives::start_neighbor_collective(core, send, recv, call);
  }
  [[nodiscard]] core::Run& started(const void* send, void* recv, const collectives::CollectiveCall& call) const
      FAB_REQUIRES(core::engine_lock) {
    return collectives::start(core, send, recv, call);
  }
};

/// Starts it for a blocking call: returns what is left to wait for; null: nothing, and `status` tells how it ended.
struct StartAndLook {
  core::Communicator& core;
  Status& status;
  core::CallBrief brief{};
  const core::CallNumbers* numbers = nullptr;

  template <class Exchange>
  core::Pending* operator()(const void* send, void* recv, const Exchange& call) const {
    const core::Lock lock(core.engine());
    const Start start{core, brief, numbers};
    return begun(start.remembered(start.started(send, recv, call)));
  }
  [[nodiscard]] core::Pending* begun(core::Run& run) const FAB_REQUIRES(core::engine_lock) {
    return core::unfinished(run, status);
  }
};

/// `then` of a call with a brief (repeating.h), which it describes only if it does not repeat an earlier one.
template <class Call, class Then>
[[gnu::always_inline]] inline decltype(auto) begin_or_repeat(Kept& kept, const Call& call, Then then) {
  const core::CallBrief brief = call.brief();
  if (!brief.empty()) {
    const core::Lock lock(then.core.engine());
    if (core::RunPool* const known = then.core.plan_of(brief, then.numbers))
      return then.begun(then.core.start(*known, collectives::buffers(call.sent(), call.received())));
  }
  if (call.may_be_remembered()) then.brief = brief;
  return call(then.core, kept, then);
}

template <class Call, class Then>
[[gnu::always_inline]] inline decltype(auto) begin_call(Kept& kept, const Call& call, Then then) {
  if constexpr (requires { call.numbers(then.core); }) {
    const core::CallNumbers numbers = call.numbers(then.core);
    then.numbers = &numbers;
    return begin_or_repeat(kept, call, then);
  } else if constexpr (requires { call.brief(); }) {
    return begin_or_repeat(kept, call, then);
  } else {
    return call(then.core, kept, then);
  }
}

/// Makes it persistent.
struct Make {
  const std::shared_ptr<core::Communicator>& core;

  core::Persistent operator()(const void* send, void* recv, const collectives::NeighborXchg& call) const {
    return collectives::make_neighbor_xchg(core, send, recv, call, {.idle = next_idle_hook()});
  }
  core::Persistent operator()(const void* send, void* recv, const collectives::PartitionedXchg& call) const {
    return collectives::make_partitioned_xchg(core, send, recv, call, next_idle_hook());
  }
  core::Persistent operator()(const void* send, void* recv, const collectives::CartShiftXchg& call) const {
    return collectives::make_cart_shift_xchg(core, send, recv, call);
  }
  core::Persistent operator()(const void* send, void* recv, const collectives::NeighborCollective& call) const {
    return collectives::make_neighbor_collective(core, send, recv, call, {.idle = next_idle_hook()});
  }
  core::Persistent operator()(const void* send, void* recv, const collectives::CollectiveCall& call) const {
    return collectives::make(core, send, recv, call);
  }
};

inline void check_request(const MPI_Request* request) {
  if (request == nullptr) throw Failure(MPI_ERR_ARG, "request is a null pointer");
}

/// Starts and waits, with no thread hand-over and nothing allocated where the plan exists. Throws what `call` throws,
/// and the exchange's own error.
template <class Call>
void perform(Attachment& attachment, Call&& call) {
  core::Communicator& core = *attachment.core;
  Kept kept;
  Status status;
  core::Pending* const pending = core::in_order(core, [&] {
    return begin_call(kept, call, StartAndLook{core, status});
  });
  if (pending == nullptr)
    core.engine().hand_over_progress();
  else
    status = core::complete(*pending, next_idle_hook());
  if (status.ok()) return;
  note_failure();
  throw Error(status.errc(), status.message);
}

/// Starts, and puts a request into *request.
template <class Call>
void start(const char* name, Attachment& attachment, MPI_Request* request, Call&& call) {
  core::Communicator& core = *attachment.core;
  CompletedBy completed_by = CompletedBy::fab;
  Kept kept;
  core::Run& run = core::in_order(core, [&]() -> core::Run& {
    check_request(request);
    completed_by = who_completes();
    return begin_call(kept, call, Start{core});
  });
  hand_over_progress(core.engine());
  *request = completed_by == CompletedBy::fab ? make_request(name, attachment, run, std::move(kept))
                                              : make_request_for_mpi(name, attachment, run, std::move(kept));
}

/// Makes a persistent exchange, with a request in *request.
template <class Call>
void make_persistent(const char* name, Attachment& attachment, MPI_Request* request, Call&& call,
                     std::unique_ptr<StartObserver> observer = nullptr) {
  Kept kept;
  core::Persistent exchange = core::in_order_of_persistent(*attachment.core, [&] {
    check_request(request);
    require_completion_by_fab();
    return call(*attachment.core, kept, Make{attachment.core});
  });
  hand_over_progress(attachment.core->engine());
  *request = make_request(name, attachment, std::move(exchange), std::move(kept), std::move(observer));
}

// The three forms as functions of MPI's, which return an error class: for calls along a topology.

template <class Call>
int blocking(const char* name, MPI_Comm comm, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    perform(attachment_with_topology(comm), call);
  });
}

template <class Call>
int non_blocking(const char* name, MPI_Comm comm, MPI_Request* request, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    start(name, attachment_with_topology(comm), request, call);
  });
}

template <class Call>
int persistent(const char* name, MPI_Comm comm, MPI_Request* request, Call&& call) noexcept {
  return guarded(name, comm, [&] {
    open_fab();
    make_persistent(name, attachment_with_topology(comm), request, call);
  });
}

}  // namespace fab::mpi
