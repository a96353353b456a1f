// A call that is refused still takes its place in the order of its communicator's calls.
#pragma once

#include <utility>

#include "core/communicator/communicator.h"

namespace fab::core {

/// Runs what checks a call's arguments and starts it, without the engine's lock. If it throws, this rank has
/// called: its next call meets its peers' next ones, and those that wait for this one learn who has refused it.
template <class Start>
[[gnu::always_inline]] inline decltype(auto) in_order(Communicator& communicator, Start&& start) {
  try {
    return std::forward<Start>(start)();
  } catch (...) {
    communicator.call_refused(Communicator::Order::calls);
    throw;
  }
}

/// in_order for calls that make persistent exchanges, which are counted for themselves.
template <class Make>
decltype(auto) in_order_of_persistent(Communicator& communicator, Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (...) {
    communicator.call_refused(Communicator::Order::persistent);
    throw;
  }
}

}  // namespace fab::core
