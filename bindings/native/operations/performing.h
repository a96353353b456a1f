// Starts a call in each of its forms: blocking, non-blocking and persistent.
//
// Each kind of call (fab/operation.h) has a file with a function `prepared(communicator, call, use)`. It looks at the
// call's arguments, throws where it refuses them, and gives `use` an object with two functions: start(core) makes a
// run, under the engine's lock; make(core) makes a persistent exchange. From these the forms below are made, in one way
// for all kinds.
#pragma once

#include <utility>
#include <vector>

#include "bindings/native/base/access.h"
#include "bindings/native/base/starting.h"
#include "bindings/native/operations/call_brief.h"
#include "bindings/native/operations/null_buffers.h"
#include "collectives/calls/buffers.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_collective.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "collectives/start.h"
#include "core/communicator/persistent.h"
#include "fab/operation.h"

namespace fab::native {

/// Addresses and what one of the floor below knows about.
struct Addresses {
  const void* send = nullptr;
  void* recv = nullptr;
};

struct PreparedCollective : Addresses {
  collectives::CollectiveCall call;

  [[nodiscard]] core::Run& start(core::Communicator& core) const FAB_REQUIRES(core::engine_lock) {
    return collectives::start(core, send, recv, call);
  }
  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& core) const {
    return collectives::make(core, send, recv, call);
  }
};

struct PreparedXchg : Addresses {
  collectives::NeighborXchg call;

  [[nodiscard]] core::Run& start(core::Communicator& core) const FAB_REQUIRES(core::engine_lock) {
    return collectives::start_neighbor_xchg(core, send, recv, call);
  }
  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& core) const {
    return collectives::make_neighbor_xchg(core, send, recv, call, {.single_blocks = true});
  }
};

struct PreparedShift : Addresses {
  collectives::CartShiftXchg call;

  [[nodiscard]] core::Run& start(core::Communicator& core) const FAB_REQUIRES(core::engine_lock) {
    return collectives::start_cart_shift_xchg(core, send, recv, call);
  }
  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& core) const {
    return collectives::make_cart_shift_xchg(core, send, recv, call);
  }
};

struct PreparedNeighborCollective : Addresses {
  collectives::NeighborCollective call;

  [[nodiscard]] core::Run& start(core::Communicator& core) const FAB_REQUIRES(core::engine_lock) {
    return collectives::start_neighbor_collective(core, send, recv, call);
  }
  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& core) const {
    return collectives::make_neighbor_collective(core, send, recv, call);
  }
};

/// Most calls have two addresses, and nothing to look at.
template <class Prepared>
void check_addresses(const detail::CallBuffers& call, const core::Communicator& core, const Prepared& operation) {
  if (operation.send == nullptr) check_null(call, Side::send, sent(operation.call, core.rank()));
  if (operation.recv == nullptr) check_null(call, Side::recv, received(operation.call, core.rank()));
}

}  // namespace fab::native

namespace fab::detail {

/// Starts the call, and returns what `use` makes of its run, under the engine's lock. A call that is refused uses up
/// its place, and throws. Inline, as it is on the way of every blocking call.
template <class Call, class Use>
[[gnu::always_inline]] inline auto started(const Communicator& communicator, const Call& call, Use&& use) {
  core::Communicator& core = *Access::core(communicator);
  return core::in_order(core, [&] {
    const core::CallBrief brief = native::brief_of(call);
    if (!brief.empty()) {
      const core::Lock lock(core.engine());
      if (core::RunPool* const known = core.plan_of(brief))
        return use(core.start(*known, collectives::buffers(call.send, call.recv), native::user_of(call)));
    }
    return prepared(communicator, call, [&](const auto& operation) {
      native::check_addresses(call, core, operation);
      const core::Lock lock(core.engine());
      core::Run& run = operation.start(core);
      core.remember(brief, {{call.layout}});
      return use(run);
    });
  });
}

/// Starts, and waits for the end: returns how it ended.
template <class Call>
Status status_of(const Communicator& communicator, const Call& call) {
  Status status;
  core::Pending* const pending = started(communicator, call, [&](core::Run& run) FAB_REQUIRES(core::engine_lock) {
    return core::unfinished(run, status);
  });
  if (pending == nullptr)
    Access::core(communicator)->engine().hand_over_progress();
  else
    status = core::complete(*pending);
  return status;
}

template <class Call>
void perform(const Communicator& communicator, const Call& call) {
  raise(status_of(communicator, call));
}

// The caller goes its way: the progress thread must know.
template <class Call>
Request start(const Communicator& communicator, const Call& call) {
  Request request =
      started(communicator, call, [&](core::Run& run) { return Access::request(Access::core(communicator), run); });
  Access::core(communicator)->engine().hand_over_progress();
  return request;
}

template <class Call>
PersistentExchange persistent(const Communicator& communicator, const Call& call) {
  const std::shared_ptr<core::Communicator>& core = Access::core(communicator);
  return core::in_order_of_persistent(*core, [&] {
    return prepared(communicator, call, [&](const auto& operation) {
      native::check_addresses(call, *core, operation);
      core::Persistent made = operation.make(core);
      const std::vector<Edge> sources(made.sources().begin(), made.sources().end());
      return Access::exchange(std::move(made), sources);
    });
  });
}

template <class Call>
Status try_perform(const Communicator& communicator, const Call& call) noexcept {
  Status ended;
  Status started = attempt([&] { ended = status_of(communicator, call); });
  return started.ok() ? ended : started;
}

template <class Call>
Result<Request> try_start(const Communicator& communicator, const Call& call) noexcept {
  return attempt([&] { return start(communicator, call); });
}

template <class Call>
Result<PersistentExchange> try_persistent(const Communicator& communicator, const Call& call) noexcept {
  return attempt([&] { return persistent(communicator, call); });
}

}  // namespace fab::detail
