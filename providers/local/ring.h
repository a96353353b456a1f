// A queue between two processes: cells of one cache line, and memory for what does not fit a cell.
//
// One process writes, one reads. A cell becomes visible by one release store, that of its turn; a short message lies
// inside it, so it crosses as one cache line. What is longer lies in the bulk memory, which is used round and round,
// too. How far the reader has come is all that it tells the writer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace fab::local {

inline constexpr std::size_t kCacheLine = 64;

enum class CellKind : std::uint32_t {
  message,   ///< with its bytes inside
  bulk,      ///< a message whose bytes lie in the bulk memory
  announce,  ///< of a long message: its length, the number of its send and, in the bulk memory, where it lies
  taken,     ///< answer to `announce`: the receiver has read the message
  clear,     ///< or: the receive that waits for chunks, and how much of the message it takes
  chunk,     ///< a piece of a long message in the bulk memory, for a receive
};

/// Asks for a cache line ahead of writing to it: the other side has a copy, which takes long to be withdrawn.
inline void will_write(const void* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// In the bulk memory; positions count from the beginning of time.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

struct Announcement {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< the sender's, of all the bytes
  Stretch pieces{};           ///< or, if not empty: where their addresses are, an array of iovec
  std::uint32_t send = 0;
  std::uint32_t region = 0;  ///< 0: in memory that only the sender maps
  std::int32_t descriptor = -1;
};

struct Clearance {
  std::uint64_t bytes = 0;  ///< of the message that the receive takes
  std::uint32_t send = 0;
  std::uint32_t receive = 0;
};

struct alignas(kCacheLine) Cell {
  static constexpr std::size_t kInlineBytes = 40;

  std::atomic<std::uint32_t> turn;  ///< of the cell: the number of the lap's first cell plus its place plus one
  CellKind kind;
  std::uint64_t tag;  ///< of a message; of a chunk the receive's number
  union {
    struct {
      std::uint64_t bytes;
      std::array<std::byte, kInlineBytes> memory;
    } message;
    Stretch stretch;
    Announcement announcement;
    Clearance clearance;
  };
};
static_assert(sizeof(Cell) == kCacheLine);

struct Ring {
  static constexpr std::uint32_t kCells = 256;
  static constexpr std::size_t kBulkBytes = 256 * 1024;

  alignas(kCacheLine) std::atomic<std::uint32_t> cells_read;  ///< the reader writes both
  std::atomic<std::uint64_t> bulk_read;
  alignas(kCacheLine) std::atomic<std::uint32_t> writer_waits;  ///< wants to be woken when there is room
  alignas(kCacheLine) std::array<Cell, kCells> cells;
  alignas(kCacheLine) std::array<std::byte, kBulkBytes> bulk;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "atomics must work between processes");

/// The writer's end. New memory is all zeros, which is an empty ring.
class RingWriter {
 public:
  explicit RingWriter(Ring& ring) noexcept : ring_(&ring) {}

  [[nodiscard]] bool has_cell() noexcept {
    if (written_ - seen_read_ < Ring::kCells) return true;
    seen_read_ = ring_->cells_read.load(std::memory_order_acquire);
    return written_ - seen_read_ < Ring::kCells;
  }
  /// The next cell to fill in. Precondition: has_cell().
  [[nodiscard]] Cell& cell() noexcept { return ring_->cells[written_ % Ring::kCells]; }
  void publish() noexcept {
    Cell& filled = cell();
    filled.turn.store(++written_, std::memory_order_release);
    // Not the next, which the reader is looking at.
    will_write(&ring_->cells[(written_ + 1) % Ring::kCells]);
  }
  /// Room for so many bytes side by side, or null. They count as taken when the cell that names them is published.
  [[nodiscard]] std::byte* bulk(std::uint64_t bytes, Stretch& stretch) noexcept {
    const std::uint64_t place = bulk_written_ % Ring::kBulkBytes;
    const std::uint64_t skipped = place + bytes > Ring::kBulkBytes ? Ring::kBulkBytes - place : 0;
    const std::uint64_t end = bulk_written_ + skipped + bytes;
    if (end - seen_bulk_read_ > Ring::kBulkBytes) {
      seen_bulk_read_ = ring_->bulk_read.load(std::memory_order_acquire);
      if (end - seen_bulk_read_ > Ring::kBulkBytes) return nullptr;
    }
    stretch = {bulk_written_ + skipped, bytes};
    return ring_->bulk.data() + stretch.begin % Ring::kBulkBytes;
  }
  /// Keeps what follows on a cache line of its own, and expects it to be as long.
  void take(const Stretch& stretch) noexcept {
    bulk_written_ = (stretch.begin + stretch.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    if (stretch.bytes > kMostAhead) return;
    const std::byte* const next = ring_->bulk.data() + bulk_written_ % Ring::kBulkBytes;
    for (std::uint64_t ahead = 0; ahead < stretch.bytes; ahead += kCacheLine) will_write(next + ahead);
  }
  void waits(bool waiting) noexcept {
    if (waiting != waiting_) ring_->writer_waits.store(waiting ? 1 : 0, std::memory_order_relaxed);
    waiting_ = waiting;
  }

 private:
  /// Longer messages gain nothing; what is asked for may lie beyond the ring, where it does no harm.
  static constexpr std::uint64_t kMostAhead = 4096;

  Ring* ring_;
  std::uint32_t written_ = 0;
  std::uint32_t seen_read_ = 0;
  std::uint64_t bulk_written_ = 0;
  std::uint64_t seen_bulk_read_ = 0;
  bool waiting_ = false;
};

class RingReader {
 public:
  explicit RingReader(Ring& ring) noexcept : ring_(&ring) {}

  /// The next cell, or null.
  [[nodiscard]] const Cell* peek() const noexcept {
    const Cell& next = ring_->cells[read_ % Ring::kCells];
    return next.turn.load(std::memory_order_acquire) == read_ + 1 ? &next : nullptr;
  }
  [[nodiscard]] const std::byte* bulk(const Stretch& stretch) const noexcept {
    return ring_->bulk.data() + stretch.begin % Ring::kBulkBytes;
  }
  /// The memory is the writer's again.
  void release(const Stretch& stretch) noexcept {
    const std::uint64_t end = (stretch.begin + stretch.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    ring_->bulk_read.store(end, std::memory_order_release);
  }
  void pop() noexcept { ring_->cells_read.store(++read_, std::memory_order_release); }
  [[nodiscard]] bool writer_waits() const noexcept { return ring_->writer_waits.load(std::memory_order_relaxed) != 0; }

 private:
  Ring* ring_;
  std::uint32_t read_ = 0;
};

}  // namespace fab::local
