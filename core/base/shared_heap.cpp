#include "core/base/shared_heap.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/anonymous_file.h"
#include "core/base/config.h"
#include "core/base/log.h"
#include "fab/error.h"

namespace fab::core {

namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;
/// Of a region for many blocks: pages cost nothing before they are touched.
constexpr std::size_t kRegionBytes = std::size_t{64} << 20;
/// From here on a block asks for huge pages, which the system gives or not. Shorter ones would take more than they
/// need.
constexpr std::size_t kLeastHuge = std::size_t{4} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

[[noreturn]] void fail(const char* call, std::size_t bytes) {
  throw Error(Errc::no_resources, fmt::format("alloc of {} bytes: {}: {}", bytes, call, std::strerror(errno)));
}

/// Of the process, which has the configuration of its environment.
Log process_log() noexcept {
  try {
    return {read_config(process_environment).log, -1};
  } catch (const Error&) {  // the call that opens fab reports it
    return {};
  }
}

void tell_once(const std::string& refusal) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    process_log().write(LogLevel::warn,
                        "fab::alloc: cannot share memory with other ranks; messages from it are slower: {}", refusal);
}

std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

/// For what the block has of them from end to end. A refusal costs only speed.
void ask_for_huge_pages(std::byte* block, std::size_t bytes) noexcept {
  const std::uintptr_t begin = round_up(reinterpret_cast<std::uintptr_t>(block), kHugePage);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / kHugePage * kHugePage;
  static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
}

}  // namespace

/// Keeps its blocks by their offsets: first fit, neighbours that are free grow together.
class SharedHeap::Region {
 public:
  Region(std::uint32_t number, std::size_t bytes) : number_(number), bytes_(bytes) {
    const AnonymousFile file = make_anonymous_file("fab-memory", bytes);
    descriptor_ = file.descriptor;
    if (descriptor_ < 0) tell_once(file.refusal);
    const int kind = descriptor_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, descriptor_, 0);
    if (memory == MAP_FAILED) {
      const int error = errno;
      if (descriptor_ >= 0) ::close(descriptor_);
      errno = error;
      fail("memory of that size", bytes);
    }
    begin_ = static_cast<std::byte*>(memory);
    *reinterpret_cast<SharedRegionHead*>(begin_) = {SharedRegionHead::kMagic, number,
                                                    reinterpret_cast<std::uint64_t>(begin_)};
    free_.emplace(kPage, bytes - kPage);
  }
  /// Processes that still map the file keep addresses, but no memory. A child, even of a clone() without fork()'s
  /// handlers, takes it from no process.
  ~Region() {
    if (is_shared() && ::getpid() == process_)
      static_cast<void>(
          ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes_)));
    ::munmap(begin_, bytes_);
    if (is_shared()) ::close(descriptor_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  [[nodiscard]] SharedRegion description() const noexcept { return {number_, descriptor_, begin_, bytes_}; }
  /// Others can map it.
  [[nodiscard]] bool is_shared() const noexcept { return descriptor_ >= 0; }
  /// In a child: the parent's.
  [[nodiscard]] bool is_abroad() const noexcept { return birthplace_.is_abroad(); }
  /// In a child: shares nothing with the parent any more. Where there are no addresses to be had, the child can at
  /// least not write.
  void begin_abroad() noexcept {
    if (!is_shared()) return;
    const int writable = PROT_READ | PROT_WRITE;
    if (::mmap(begin_, bytes_, writable, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, descriptor_, 0) == MAP_FAILED)
      static_cast<void>(::mprotect(begin_, bytes_, PROT_READ));
    ::close(std::exchange(descriptor_, -1));
  }
  /// begin_abroad with copies of all that is in it, where there is memory for them.
  void begin_abroad_with_copies() noexcept {
    if (!is_shared() || !replace_by_copy(begin_, bytes_, descriptor_)) return begin_abroad();
    ::close(std::exchange(descriptor_, -1));
  }
  [[nodiscard]] bool empty() const noexcept { return taken_.empty(); }
  [[nodiscard]] bool for_many() const noexcept { return bytes_ == kRegionBytes; }

  /// Null when there is no room.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
    for (auto place = free_.begin(); place != free_.end(); ++place) {
      const auto [offset, size] = *place;
      const std::size_t begin = round_up(offset, alignment);
      if (begin - offset > size || size - (begin - offset) < bytes) continue;
      taken_.emplace(begin, bytes);
      free_.erase(place);
      if (begin > offset) free_.emplace(offset, begin - offset);
      if (const std::size_t end = begin + bytes; end < offset + size) free_.emplace(end, offset + size - end);
      if (bytes >= kLeastHuge) ask_for_huge_pages(begin_ + begin, bytes);
      return begin_ + begin;
    }
    return nullptr;
  }
  /// The block that holds these bytes of the region; null address: none.
  [[nodiscard]] SharedBlock block_of(const void* memory, std::size_t bytes) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - begin_);
    const auto next = taken_.upper_bound(offset);
    if (next == taken_.begin()) return {};
    const auto [begin, size] = *std::prev(next);
    if (offset + bytes > begin + size) return {};
    return {.begin = begin_ + begin, .bytes = size, .region = number_};
  }
  /// 0 if no block begins there.
  [[nodiscard]] std::size_t bytes_of(const void* block) const {
    const auto found = taken_.find(static_cast<std::size_t>(static_cast<const std::byte*>(block) - begin_));
    return found == taken_.end() ? 0 : found->second;
  }
  /// False if no block begins there.
  [[nodiscard]] bool free(const void* block) {
    const auto found = taken_.find(static_cast<std::size_t>(static_cast<const std::byte*>(block) - begin_));
    if (found == taken_.end()) return false;
    const auto added = free_.emplace(found->first, found->second).first;
    taken_.erase(found);
    if (const auto next = std::next(added); next != free_.end() && added->first + added->second == next->first) {
      added->second += next->second;
      free_.erase(next);
    }
    if (added == free_.begin()) return true;
    if (const auto before = std::prev(added); before->first + before->second == added->first) {
      before->second += added->second;
      free_.erase(added);
    }
    return true;
  }

 private:
  std::uint32_t number_;
  std::size_t bytes_;
  int descriptor_ = -1;
  std::byte* begin_ = nullptr;
  Birthplace birthplace_;
  pid_t process_ = ::getpid();
  std::map<std::size_t, std::size_t> free_;   ///< offset, bytes
  std::map<std::size_t, std::size_t> taken_;  ///< the same
};

SharedHeap::SharedHeap() : ForkParticipant(Order::last) {}
SharedHeap::~SharedHeap() = default;

SharedHeap& SharedHeap::of_process() {
  static SharedHeap& heap = *new SharedHeap;
  return heap;
}

void* SharedHeap::allocate(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX - 2 * kPage)
    throw Error(Errc::no_resources, fmt::format("alloc of {} bytes: more than a process can address", bytes));
  const std::size_t alignment = bytes >= kPage ? kPage : kCacheLine;
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), alignment);
  const MutexLock lock(mutex_);
  for (const auto& region : regions_) {
    if (region->is_abroad()) continue;
    if (void* block = region->allocate(size, alignment)) return block;
  }
  return add_region(std::max(kRegionBytes, size + kPage)).allocate(size, alignment);
}

SharedHeap::Region& SharedHeap::add_region(std::size_t bytes) {
  const auto unused = std::ranges::find_if(addresses_, [](const Addresses& each) { return each.end == 0; });
  const bool is_listed = unused != addresses_.end();
  if (!is_listed && keeps_snapshots_)  // malloc asks for addresses
    throw Error(Errc::no_resources,
                fmt::format("alloc of {} bytes: there are {} regions already", bytes, kMostRegions));
  regions_.push_back(std::make_shared<Region>(++last_number_, bytes));
  if (is_listed) {
    unused->begin = reinterpret_cast<std::uintptr_t>(regions_.back()->description().begin);
    unused->end = unused->begin + bytes;
  }
  generation_.fetch_add(1, std::memory_order_release);
  return *regions_.back();
}

void SharedHeap::free(void* block) {
  if (block == nullptr) return;
  const MutexLock lock(mutex_);
  for (const auto& region : regions_) {
    if (!region->description().holds(block, 1)) continue;
    if (!region->free(block)) break;
    return drop_if_spare(*region);
  }
  throw Error(Errc::invalid_argument, fmt::format("free: {} is not the address of a block that alloc returned", block));
}

// One empty region stays, for programs that come and go with their blocks.
void SharedHeap::drop_if_spare(const Region& region) {
  if (!region.empty()) return;
  const bool other_is_empty = std::ranges::any_of(
      regions_, [&](const auto& each) { return each.get() != &region && each->empty() && !each->is_abroad(); });
  if (region.for_many() && !other_is_empty && !region.is_abroad()) return;
  generation_.fetch_add(1, std::memory_order_release);
  const auto begin = reinterpret_cast<std::uintptr_t>(region.description().begin);
  for (Addresses& each : addresses_)
    if (each.end > 0 && each.begin == begin) each.end = 0;
  std::erase_if(regions_, [&](const auto& each) { return each.get() == &region; });
}

std::optional<SharedRegion> SharedHeap::find(const void* memory, std::size_t bytes) const {
  const MutexLock lock(mutex_);
  for (const auto& region : regions_) {
    const SharedRegion description = region->description();
    if (description.holds(memory, bytes) && region->is_shared()) return description;
  }
  return std::nullopt;
}

std::optional<SharedBlock> SharedHeap::find_block(const void* memory, std::size_t bytes) const {
  const MutexLock lock(mutex_);
  for (const auto& region : regions_) {
    if (!region->description().holds(memory, bytes) || region->is_abroad()) continue;
    SharedBlock block = region->block_of(memory, bytes);
    if (block.begin == nullptr) break;
    block.keep = region;
    return block;
  }
  return std::nullopt;
}

void SharedHeap::keep_snapshots() {
  const MutexLock lock(mutex_);
  keeps_snapshots_ = true;
}

std::size_t SharedHeap::bytes_of(const void* block) const {
  const MutexLock lock(mutex_);
  for (const auto& region : regions_)
    if (region->description().holds(block, 1)) return region->bytes_of(block);
  return 0;
}

bool SharedHeap::has_address(const void* memory) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return std::ranges::any_of(addresses_, [address](const Addresses& each) {
    return address < each.end.load(std::memory_order_acquire) && address >= each.begin.load(std::memory_order_acquire);
  });
}

void SharedHeap::before_fork() noexcept {
  mutex_.lock();
  if (keeps_snapshots_) snapshot_.begin();
}

void SharedHeap::after_fork() noexcept {
  if (keeps_snapshots_) snapshot_.wait_in_parent();
  mutex_.unlock();
}

void SharedHeap::begin_abroad() noexcept {
  for (const auto& region : regions_) keeps_snapshots_ ? region->begin_abroad_with_copies() : region->begin_abroad();
  if (keeps_snapshots_) snapshot_.end_in_child();
  generation_.fetch_add(regions_.empty() ? 0 : 1, std::memory_order_release);
  mutex_.unlock();
}

bool SharedHeap::has_region(std::uint32_t number) const {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(regions_, [&](const auto& each) { return each->description().number == number; });
}

}  // namespace fab::core
