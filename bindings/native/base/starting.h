// Helpers that the calls of the native API share.
#pragma once

#include "bindings/native/base/access.h"
#include "bindings/native/base/raise.h"
#include "core/communicator/communicator.h"
#include "core/communicator/refused_call.h"
#include "core/context.h"
#include "core/run/wait.h"
#include "fab/communicator.h"
#include "fab/request.h"

namespace fab {

/// Starts under the engine's lock, for a caller that waits at once. `start` makes a run on a core::Communicator; a call
/// that it refuses uses up its place.
template <class Start>
Request start_run(const Communicator& communicator, Start&& start) {
  core::Communicator& core = *Access::core(communicator);
  return core::in_order(core, [&] {
    const core::Lock lock(core.engine());
    return Access::request(Access::core(communicator), start(core));
  });
}

/// Starts a message in the same way, and waits for its end. Throws what start() throws, or how the message ended.
template <class Start>
MessageInfo pass_message(const Communicator& communicator, Start&& start) {
  core::Communicator& core = *Access::core(communicator);
  Status status;
  MessageInfo message;
  core::Pending* const pending = core::in_order(core, [&]() -> core::Pending* {
    const core::Lock lock(core.engine());
    core::Pending& started = start(core);
    return core::take_end(started, status, message) ? nullptr : &started;
  });
  if (pending == nullptr)
    core.engine().hand_over_progress();
  else
    status = core::complete(*pending, nullptr, &message);
  raise(status);
  return message;
}

/// start_run for a caller that goes its way: the progress thread is woken.
template <class Start>
Request start_in_background(const Communicator& communicator, Start&& start) {
  Request request = start_run(communicator, start);
  Access::core(communicator)->engine().hand_over_progress();
  return request;
}

}  // namespace fab
