// Blocks for tests of schedules: contiguous bytes of a buffer.
#pragma once

#include <cstddef>

#include "fab/schedule.h"

namespace fab::test {

inline Block block(BufferId buffer, std::ptrdiff_t offset, std::size_t bytes) {
  return {buffer, offset, Layout::contiguous(bytes)};
}
inline Block in(std::ptrdiff_t offset, std::size_t bytes) { return block(BufferId::recv, offset, bytes); }
inline Block out(std::ptrdiff_t offset, std::size_t bytes) { return block(BufferId::send, offset, bytes); }

}  // namespace fab::test
