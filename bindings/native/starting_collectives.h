// The three forms of every collective call.
#pragma once

#include "bindings/native/starting.h"
#include "collectives/start.h"
#include "core/persistent.h"
#include "fab/persistent.h"

namespace fab::native {

using collectives::CollectiveCall;

inline void wait_for(const Communicator& communicator, const void* send, void* recv, const CollectiveCall& call) {
  start_run(communicator, [&](core::Communicator& core) -> core::Run& {
    return collectives::start(core, send, recv, call);
  }).wait();
}

[[nodiscard]] inline Request begin(const Communicator& communicator, const void* send, void* recv,
                                   const CollectiveCall& call) {
  return start_in_background(
      communicator, [&](core::Communicator& core) -> core::Run& { return collectives::start(core, send, recv, call); });
}

[[nodiscard]] inline PersistentExchange make(const Communicator& communicator, const void* send, void* recv,
                                             const CollectiveCall& call) {
  return PersistentExchange(collectives::make(communicator.core(), send, recv, call));
}

inline constexpr bool kInPlace = true;
inline constexpr bool kApart = false;

}  // namespace fab::native
