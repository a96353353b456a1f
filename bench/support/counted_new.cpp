#include "support/counted_new.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::ptrdiff_t> held{0};

void* count(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  held.fetch_add(static_cast<std::ptrdiff_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

void give_back(void* memory) noexcept {
  held.fetch_sub(static_cast<std::ptrdiff_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

namespace bench {

std::ptrdiff_t held_bytes() noexcept { return held.load(std::memory_order_relaxed); }

}  // namespace bench

// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t bytes) { return count(std::malloc(bytes == 0 ? 1 : bytes)); }

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  return count(std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple));
}

void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  give_back(memory);
}
