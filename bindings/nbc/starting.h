// Starts fab's collectives from MPI's arguments.
#pragma once

#include "bindings/mpi/calls/arguments.h"
#include "bindings/nbc/instance.h"
#include "collectives/start.h"

namespace fab::nbc {

using collectives::BlockList;
using collectives::BlockView;
using collectives::CollectiveCall;
using mpi::Side;

/// Takes the engine's lock.
inline core::Run& start_call(core::Communicator& core, const void* send, void* recv, const CollectiveCall& call) {
  const core::Lock lock(core.engine());
  return collectives::start(core, send, recv, call);
}

[[nodiscard]] inline std::size_t ranks_of(const core::Communicator& core) noexcept {
  return static_cast<std::size_t>(core.size());
}

}  // namespace fab::nbc
