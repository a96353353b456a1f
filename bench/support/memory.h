// Memory of the buffers that benchmarks exchange.
#pragma once

#include <cstddef>
#include <memory>

namespace bench {

enum class MemoryKind {
  user,  ///< what a program has from its own allocator
  fab,   ///< fab::alloc
};
[[nodiscard]] const char* name_of(MemoryKind kind);

using Memory = std::unique_ptr<std::byte, void (*)(std::byte*)>;

/// Page-aligned, from 4096 bytes on at least. Throws std::bad_alloc, fab::Error, and std::runtime_error for fab's
/// memory in a program that is built without fab.
[[nodiscard]] Memory allocate(MemoryKind kind, std::size_t bytes);

/// allocate() for MemoryKind::fab: in fab_forms.cpp or no_fab_forms.cpp.
[[nodiscard]] Memory allocate_from_fab(std::size_t bytes);

}  // namespace bench
