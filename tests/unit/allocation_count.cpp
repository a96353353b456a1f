#include "unit/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;
thread_local int pauses = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (pauses == 0) ++count;
  void* memory = alignment == 0 ? std::malloc(bytes)
                                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The array and nothrow forms of the standard library end in these.
void* operator new(std::size_t bytes) { return allocate(bytes == 0 ? 1 : bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace fab::test {

std::size_t allocation_count() noexcept { return count; }

PausedCount::PausedCount() noexcept { ++pauses; }
PausedCount::~PausedCount() { --pauses; }

}  // namespace fab::test
