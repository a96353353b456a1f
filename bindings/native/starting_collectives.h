// The three forms of every collective call.
#pragma once

#include <concepts>

#include "bindings/native/starting.h"
#include "collectives/start.h"
#include "core/communicator/persistent.h"
#include "fab/persistent.h"

namespace fab::native {

using collectives::CollectiveCall;

/// A call, or what makes one and may refuse its arguments.
[[nodiscard]] inline const CollectiveCall& made(const CollectiveCall& call) { return call; }
template <std::invocable Make>
[[nodiscard]] CollectiveCall made(Make&& make) {
  return make();
}

template <class Call>
Request start_collective(const Communicator& communicator, const void* send, void* recv, Call&& call) {
  core::Communicator& core = *communicator.core();
  return core::in_order(core, [&] {
    const CollectiveCall& its = made(call);
    const core::Lock lock(core.engine().mutex);
    return Request(communicator.core(), collectives::start(core, send, recv, its));
  });
}

template <class Call>
void wait_for(const Communicator& communicator, const void* send, void* recv, Call&& call) {
  start_collective(communicator, send, recv, call).wait();
}

template <class Call>
[[nodiscard]] Request begin(const Communicator& communicator, const void* send, void* recv, Call&& call) {
  Request request = start_collective(communicator, send, recv, call);
  communicator.core()->engine().leave();
  return request;
}

template <class Call>
[[nodiscard]] PersistentExchange make(const Communicator& communicator, const void* send, void* recv, Call&& call) {
  return core::in_order_of_lasting(*communicator.core(), [&] {
    return PersistentExchange(collectives::make(communicator.core(), send, recv, made(call)));
  });
}

inline constexpr bool kInPlace = true;
inline constexpr bool kApart = false;

}  // namespace fab::native
