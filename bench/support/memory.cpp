#include "support/memory.h"

#include <new>

namespace bench {
namespace {

constexpr std::align_val_t kPage{4096};

Memory allocate_pages(std::size_t bytes) {
  return {static_cast<std::byte*>(::operator new(bytes, kPage)),
          [](std::byte* memory) { ::operator delete(memory, kPage); }};
}

}  // namespace

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::user:
      return "user";
    case MemoryKind::fab:
      return "fab";
  }
  return "";
}

Memory allocate(MemoryKind kind, std::size_t bytes) {
  switch (kind) {
    case MemoryKind::user:
      return allocate_pages(bytes);
    case MemoryKind::fab:
      return allocate_from_fab(bytes);
  }
  throw std::bad_alloc();
}

}  // namespace bench
