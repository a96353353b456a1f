// A block of a user's buffer, for calls that take a different shape per neighbour.
#pragma once

#include <cstddef>

#include "fab/layout.h"

namespace fab {

/// A layout, `offset` bytes from the buffer's address.
struct BlockShape {
  std::ptrdiff_t offset = 0;
  Layout layout{};
};

}  // namespace fab
