#include "unit/support/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;
thread_local int pauses = 0;

}  // namespace

// Clang's thread sanitizer lets no program have its own operators: nothing is counted under it.
#ifdef __clang__
#define FAB_COUNTS_ALLOCATIONS !__has_feature(thread_sanitizer)
#else
#define FAB_COUNTS_ALLOCATIONS 1
#endif
#if FAB_COUNTS_ALLOCATIONS

namespace {

void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (pauses == 0) ++count;
  bytes = bytes == 0 ? 1 : bytes;
  if (alignment == 0) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = try_allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Every form, for sanitizers have their own of each and insist on pairs.
using Alignment = std::align_val_t;
void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, Alignment alignment) { return allocate(bytes, std::size_t(alignment)); }
void* operator new[](std::size_t bytes, Alignment alignment) { return allocate(bytes, std::size_t(alignment)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return try_allocate(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return try_allocate(bytes, 0); }
void* operator new(std::size_t bytes, Alignment alignment, const std::nothrow_t&) noexcept {
  return try_allocate(bytes, std::size_t(alignment));
}
void* operator new[](std::size_t bytes, Alignment alignment, const std::nothrow_t&) noexcept {
  return try_allocate(bytes, std::size_t(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment, const std::nothrow_t&) noexcept { std::free(memory); }

#endif

namespace fab::test {

std::size_t allocation_count() noexcept { return count; }

PausedCount::PausedCount() noexcept { ++pauses; }
PausedCount::~PausedCount() { --pauses; }

}  // namespace fab::test
