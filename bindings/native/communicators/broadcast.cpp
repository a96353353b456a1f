#include "bindings/native/communicators/broadcast.h"

#include "bindings/native/base/access.h"
#include "collectives/start.h"
#include "core/context.h"
#include "fab/request.h"

namespace fab {

void broadcast(const std::shared_ptr<core::Communicator>& communicator, void* data, std::size_t bytes) {
  const Layout block = Layout::contiguous(bytes);
  Request request;
  {
    const core::Lock lock(communicator->engine());
    request = Access::request(communicator,
                              collectives::start(*communicator, nullptr, data, collectives::bcast_call(block, 0)));
  }
  request.wait();
}

}  // namespace fab
