// The place and shape of one block in a user's buffer, for calls whose blocks differ in shape (MPI's w forms).
#pragma once

#include <cstddef>

#include "fab/layout.h"

namespace fab {

/// One block: the bytes of `layout`, `offset` bytes from the buffer's address.
struct BlockShape {
  std::ptrdiff_t offset = 0;  ///< bytes from the buffer's address to the layout's base; may be negative
  Layout layout{};            ///< the bytes of the block, in the order in which they travel
};

}  // namespace fab
