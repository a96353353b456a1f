// Memory that other processes of the node can map: blocks cut from anonymous files.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/fork_snapshot.h"
#include "core/base/forks.h"
#include "core/base/mutex.h"

namespace fab::core {

/// One file, as others need to know it.
struct SharedRegion {
  std::uint32_t number = 0;  ///< in this process, never used again; 0: none
  int descriptor = -1;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] bool holds(const void* memory, std::size_t size) const noexcept {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - begin);
    return offset < bytes && size <= bytes - offset;
  }
};

/// At the beginning of a region's file. All zeros once the region is gone, also for those who still map it.
struct SharedRegionHead {
  static constexpr std::uint64_t kMagic = 0x6661622d6d656d31;  // "fab-mem1"

  std::uint64_t magic;
  std::uint64_t number;
  std::uint64_t begin;  ///< its address in the process that it belongs to
};

/// A block, and what keeps its memory mapped, also once it is freed.
struct SharedBlock {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::uint32_t region = 0;  ///< its number
  std::shared_ptr<const void> keep{};
};

/// The blocks of this process. Thread-safe.
///
/// A child of fork() reads what its parent has in blocks, as it is when the child looks, for as long as the parent has
/// the block. What it writes is its own, and so are its new blocks. It may free its parent's, for itself. After
/// keep_snapshots() it has copies instead, of what was in them at the fork.
class SharedHeap final : ForkParticipant {
 public:
  /// The only one. Never destroyed, as blocks may outlive everything else.
  [[nodiscard]] static SharedHeap& of_process();

  /// At least `bytes`, aligned to a cache line, from a page on to a page. Where the system refuses anonymous files it
  /// is memory that no other process can map. Throws Error(no_resources).
  [[nodiscard]] void* allocate(std::size_t bytes) FAB_EXCLUDES(mutex_);
  /// Null is no block and no mistake. Throws Error(invalid_argument) for any other address that allocate() did not
  /// return.
  void free(void* block) FAB_EXCLUDES(mutex_);

  /// Forks take as long as to copy all that was ever written to blocks, and children need as much memory.
  void keep_snapshots() FAB_EXCLUDES(mutex_);
  /// Whether a region is there; takes no lock. After keep_snapshots() it knows all regions, which are kMostRegions at
  /// most; otherwise the first so many.
  [[nodiscard]] bool has_address(const void* memory) const noexcept;
  /// Of the block that begins there, also of one of the parent's; 0: none does.
  [[nodiscard]] std::size_t bytes_of(const void* block) const FAB_EXCLUDES(mutex_);

  /// The region that holds these bytes, if others can map it.
  [[nodiscard]] std::optional<SharedRegion> find(const void* memory, std::size_t bytes) const FAB_EXCLUDES(mutex_);
  /// The block that holds these bytes.
  [[nodiscard]] std::optional<SharedBlock> find_block(const void* memory, std::size_t bytes) const FAB_EXCLUDES(mutex_);
  /// Otherwise all its blocks have been freed.
  [[nodiscard]] bool has_region(std::uint32_t number) const FAB_EXCLUDES(mutex_);
  /// Changes with every region that comes or goes; 0 until the first.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

 private:
  class Region;

  SharedHeap();
  ~SharedHeap();
  Region& add_region(std::size_t bytes) FAB_REQUIRES(mutex_);
  void drop_if_spare(const Region& region) FAB_REQUIRES(mutex_);
  void before_fork() noexcept override FAB_NO_ANALYSIS;
  void after_fork() noexcept override FAB_NO_ANALYSIS;
  void begin_abroad() noexcept override FAB_NO_ANALYSIS;

  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Region>> regions_ FAB_GUARDED_BY(mutex_);
  bool keeps_snapshots_ FAB_GUARDED_BY(mutex_) = false;
  ForkSnapshot snapshot_ FAB_GUARDED_BY(mutex_);
  std::uint32_t last_number_ FAB_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> generation_{0};
  /// Where regions are, for has_address(); `end` is 0 where none is.
  struct Addresses {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};
  };
  static constexpr std::size_t kMostRegions = 512;
  std::array<Addresses, kMostRegions> addresses_;
};

/// Back to the process's heap.
struct FreeShared {
  void operator()(std::byte* block) const { SharedHeap::of_process().free(block); }
};
using SharedBytes = std::unique_ptr<std::byte[], FreeShared>;
/// From the process's heap. Throws Error(no_resources).
[[nodiscard]] inline SharedBytes allocate_shared(std::size_t bytes) {
  return SharedBytes(static_cast<std::byte*>(SharedHeap::of_process().allocate(bytes)));
}

}  // namespace fab::core
