// Memory of the buffers that benchmarks exchange.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bench {

enum class MemoryKind {
  user,  ///< what a program has from its own allocator
};
[[nodiscard]] const char* name_of(MemoryKind kind);

using Memory = std::unique_ptr<std::byte, void (*)(std::byte*)>;

/// Page-aligned. Throws std::bad_alloc.
[[nodiscard]] Memory allocate(MemoryKind kind, std::size_t bytes);

}  // namespace bench
