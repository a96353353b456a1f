// The two buffers of a caller, in the order of BufferId.
#pragma once

#include <array>
#include <cstddef>

namespace fab::collectives {

/// Sends only read, so the missing const cannot do harm.
inline std::array<std::byte*, 2> buffers(const void* send, void* recv) noexcept {
  return {static_cast<std::byte*>(const_cast<void*>(send)), static_cast<std::byte*>(recv)};
}

}  // namespace fab::collectives
