// malloc and its kin for programs whose large blocks shall lie in fab's memory, so that ranks of a node copy them once.
//
// This library is loaded before the program (fab_run --heap) and has no other purpose. Blocks of kLarge bytes and more
// are fab's, all others are the C library's.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "core/base/shared_heap.h"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);
}

namespace {

using fab::core::SharedHeap;

constexpr std::size_t kLarge = 64 << 10;
constexpr std::size_t kPage = 4096;
/// Each of the larger blocks has a file of its own, and a process may have 1024 descriptors, or few more.
constexpr std::size_t kOwnFile = 32 << 20;
constexpr int kMostOwnFiles = 200;
/// Pages of a block this long go back to the system when it is freed.
constexpr std::size_t kGoesBack = 4 << 20;

/// From the end of this library's initialisation on; the libraries that it needs are initialised before it.
constinit std::atomic<bool> is_ready{false};
constinit std::atomic<int> own_files{0};

__attribute__((constructor)) void begin() {
  SharedHeap::of_process().keep_snapshots();
  is_ready.store(true, std::memory_order_release);
}

/// Null: the block is to be the C library's.
void* take(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes < kLarge || alignment > kPage || !is_ready.load(std::memory_order_acquire)) return nullptr;
  const bool is_own_file = bytes > kOwnFile;
  if (is_own_file && own_files.fetch_add(1, std::memory_order_relaxed) >= kMostOwnFiles) {
    own_files.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  try {
    return SharedHeap::of_process().allocate(bytes);
  } catch (const std::exception&) {
    if (is_own_file) own_files.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
}

/// 0: it is the C library's. fab's large blocks begin with a page. fab itself frees small blocks while it holds the
/// heap's lock, so the lock is taken for fab's addresses alone.
std::size_t bytes_in_fab(const void* block) noexcept {
  if (block == nullptr || reinterpret_cast<std::uintptr_t>(block) % kPage != 0) return 0;
  if (!is_ready.load(std::memory_order_acquire)) return 0;
  const SharedHeap& heap = SharedHeap::of_process();
  return heap.has_address(block) ? heap.bytes_of(block) : 0;
}

// errno is the caller's, as the C library leaves it alone, too.
void give_back(void* block, std::size_t bytes) noexcept {
  const int error = errno;
  if (bytes >= kGoesBack) ::madvise(block, bytes, MADV_REMOVE);  // a child's copies cannot, and need not
  if (bytes > kOwnFile) own_files.fetch_sub(1, std::memory_order_relaxed);
  SharedHeap::of_process().free(block);
  errno = error;
}

std::size_t bytes_in_libc(void* block) noexcept {
  static const auto next = reinterpret_cast<decltype(&::malloc_usable_size)>(::dlsym(RTLD_NEXT, "malloc_usable_size"));
  return next(block);
}

void* move_to(void* from, std::size_t had, void* to, std::size_t wanted) noexcept {
  if (to == nullptr) return nullptr;
  std::memcpy(to, from, std::min(had, wanted));
  std::free(from);
  return to;
}

}  // namespace

extern "C" {

/// Whether this library is loaded.
extern const int fab_heap_is_loaded;
const int fab_heap_is_loaded = 1;

void* malloc(std::size_t bytes) noexcept {
  void* const block = take(bytes, 1);
  return block != nullptr ? block : __libc_malloc(bytes);
}

void free(void* block) noexcept {
  if (const std::size_t bytes = bytes_in_fab(block); bytes > 0) return give_back(block, bytes);
  __libc_free(block);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return __libc_calloc(count, bytes);  // which says so
  void* const block = take(all, 1);
  return block != nullptr ? std::memset(block, 0, all) : __libc_calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  const std::size_t had = bytes_in_fab(block);
  if (had == 0) {
    void* const larger = take(bytes, 1);
    return larger == nullptr ? __libc_realloc(block, bytes) : move_to(block, bytes_in_libc(block), larger, bytes);
  }
  if (bytes == 0) {
    give_back(block, had);
    return nullptr;
  }
  if (bytes <= had && bytes >= std::max(had / 2, kLarge)) return block;
  return move_to(block, had, malloc(bytes), bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  void* const block = take(bytes, alignment);
  return block != nullptr ? block : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return memalign(alignment, bytes); }

int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  const int error = errno;
  void* const block = memalign(alignment, bytes);
  errno = error;
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

std::size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  const std::size_t bytes = bytes_in_fab(block);
  return bytes > 0 ? bytes : bytes_in_libc(block);
}

}  // extern "C"
