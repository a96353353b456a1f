#include "providers/ofi/withdrawn_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace fab::ofi {

WithdrawnMemory::~WithdrawnMemory() {
  regions_.clear();
  for (const std::span<std::byte> room : rooms_) ::munmap(room.data(), room.size());
}

// Rooms that are too small stay: regions lie there. Each is at least twice as large as the one before it.
std::span<std::byte> WithdrawnMemory::room(std::size_t bytes) {
  if (!rooms_.empty() && rooms_.back().size() >= bytes) return rooms_.back().first(bytes);
  const std::size_t wanted = rooms_.empty() ? bytes : std::max(bytes, 2 * rooms_.back().size());
  void* const memory =
      ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  rooms_.emplace_back(static_cast<std::byte*>(memory), wanted);
  return rooms_.back().first(bytes);
}

}  // namespace fab::ofi
