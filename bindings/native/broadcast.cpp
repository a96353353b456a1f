#include "bindings/native/broadcast.h"

#include "collectives/bcast_binary.h"
#include "core/context.h"
#include "fab/request.h"

namespace fab {

void broadcast(const std::shared_ptr<core::Communicator>& communicator, void* data, std::size_t bytes) {
  Request request;
  {
    const core::Lock lock(communicator->engine().mutex);
    request = Request(communicator, collectives::start_bcast(*communicator, data, bytes, 0));
  }
  request.wait();
}

}  // namespace fab
