// Broadcasts that the calls which make communicators use.
#pragma once

#include <cstddef>
#include <memory>

#include "core/communicator/communicator.h"

namespace fab {

/// Returns when `bytes` bytes at `data` are those of rank 0. Throws what Request::wait throws.
void broadcast(const std::shared_ptr<core::Communicator>& communicator, void* data, std::size_t bytes);

}  // namespace fab
