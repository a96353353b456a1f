// A queue between two processes: cells of two cache lines, and memory for what does not fit a cell.
//
// One process writes, one reads. A cell becomes visible by one release store, that of its turn; a short message lies
// inside it, the shortest in its first line, so that they cross as one cache line. (Processors fetch lines in pairs:
// with two cells in a pair a look at one would take the other from its writer.) What is longer lies in the bulk memory,
// which is used round and round, too. How far the reader has come is all that it tells the writer. The templates let
// tests/model run this code on atomics of its own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "providers/local/division.h"

namespace fab::local {

inline constexpr std::size_t kCacheLine = 64;

enum class CellKind : std::uint8_t {
  message,  ///< with its bytes inside
  bulk,     ///< a message whose bytes lie in the bulk memory
  rts,    ///< request to send a long message: its length, the number of its send and, in the bulk memory, where it lies
  ack,    ///< answer to `rts`: the receiver has read the message
  offer,  ///< of a part in the reading: where the message goes
  helped,     ///< answer to `offer`: how much the sender has written there
  clear,      ///< or: the receive that waits for chunks, and how much of the message it takes
  chunk,      ///< a piece of a long message in the bulk memory, for a receive
  retract,    ///< an announced message is taken back: it is none
  retracted,  ///< the receiver knows
};

/// Asks for the cache lines of so many bytes ahead of writing to them: the other side has copies, which take long to be
/// withdrawn.
inline void will_write(const void* memory, std::uint64_t bytes) noexcept {
  const char* const line = static_cast<const char*>(memory);
  for (std::uint64_t ahead = 0; ahead < bytes; ahead += kCacheLine)
#if defined(__x86_64__)
    asm volatile("prefetchw %0" ::"m"(line[ahead]));
#else
    __builtin_prefetch(line + ahead, 1);
#endif
}

/// And ahead of reading them: they come from the other processor all at once, and not one after the other.
inline void will_read(const void* memory, std::uint64_t bytes) noexcept {
  for (std::uint64_t ahead = 0; ahead < bytes; ahead += kCacheLine)
    __builtin_prefetch(static_cast<const char*>(memory) + ahead);
}

/// In the bulk memory; positions count from the beginning of time.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// In one of the two processes.
struct Location {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< of all the bytes
  Stretch pieces{};           ///< or, if not empty: where their addresses are, an array of iovec
};

struct RequestToSend {
  Location location{};
  std::uint32_t send = 0;
  std::uint32_t region = 0;  ///< 0: in memory that only the sender maps
  std::int32_t descriptor = -1;
  std::uint32_t may_help = 0;   ///< the sender, with the copy: see division.h
  std::uint32_t in_chunks = 0;  ///< better than a look at the sender's memory, if the sender's caller waits
};

struct Offer {
  Location location{};
  std::uint32_t send = 0;
  std::uint32_t lap = 0;  ///< of the division
};

struct Clearance {
  std::uint64_t bytes = 0;  ///< of the message that the receive takes, or that the sender has written
  std::uint32_t send = 0;
  std::uint32_t receive = 0;
  std::uint32_t lap = 0;     ///< of an offer
  std::uint32_t failed = 0;  ///< the sender could not write the slice that it took last
};

template <template <class> class Atomic>
struct alignas(2 * kCacheLine) BasicCell {
  static constexpr std::size_t kInlineBytes = 104;
  static constexpr std::size_t kFirstLineBytes = kInlineBytes - kCacheLine;

  Atomic<std::uint32_t> turn;  ///< of the cell: the number of the lap's first cell plus its place plus one
  CellKind kind;
  std::uint8_t common_before;  ///< the last bits of how many cells of a CommonRing were for this reader before
  std::uint64_t tag;           ///< of a message; of a chunk the receive's number
  union {
    struct {
      std::uint64_t bytes;
      std::array<std::byte, kInlineBytes> memory;
    } message;
    Stretch stretch;
    RequestToSend rts;
    Offer offer;
    Clearance clearance;
  };
};
using Cell = BasicCell<std::atomic>;
static_assert(sizeof(Cell) == 2 * kCacheLine);

template <template <class> class Atomic, std::uint32_t cell_count, std::size_t bulk_bytes>
struct BasicRing {
  using Cell = BasicCell<Atomic>;
  static constexpr std::uint32_t kCells = cell_count;
  static constexpr std::size_t kBulkBytes = bulk_bytes;
  /// A stretch that does not fit at the end of the memory leaves as much unused, and must find room all the same.
  static constexpr std::size_t kLongestStretch = kBulkBytes / 2;

  alignas(kCacheLine) Atomic<std::uint32_t> cells_read;  ///< the reader writes these three
  Atomic<std::uint32_t> common_read;                     ///< cells of the writer's CommonRing that were for it
  Atomic<std::uint64_t> bulk_read;
  alignas(kCacheLine) Atomic<std::uint32_t> writer_waits;  ///< wants to be woken when there is room
  Atomic<std::uint32_t> taken_back;  ///< announced messages, by the writer, before `retract` names each
  alignas(kCacheLine) BasicDivision<Atomic> division;  ///< of a message that the writer of the ring receives
  std::array<Cell, kCells> cells;
  alignas(kCacheLine) std::array<std::byte, kBulkBytes> bulk;
};
using Ring = BasicRing<std::atomic, 256, 256 * 1024>;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "atomics must work between processes");

/// As much of a message is asked for ahead. Longer ones gain nothing: processors follow by themselves.
inline constexpr std::uint64_t kMostAhead = 256;
inline constexpr std::uint64_t kMostAheadOfWriting = 4096;

/// Messages up to this length are written again and again to the same memory if their reader keeps up: the first use of
/// a page costs either side more than the copy, and what both used lately is in their caches. Longer ones from rank to
/// rank take longer there (docs/lab/within-a-node.md).
inline constexpr std::uint64_t kLongestReused = 2048;

/// The writer's end. New memory is all zeros, which is an empty ring.
template <class AnyRing>
class BasicRingWriter {
 public:
  using Cell = typename AnyRing::Cell;

  explicit BasicRingWriter(AnyRing& ring) noexcept : ring_(&ring) {}

  [[nodiscard]] bool has_cell() noexcept {
    if (written_ - seen_read_ < AnyRing::kCells) return true;
    seen_read_ = ring_->cells_read.load(std::memory_order_acquire);
    return written_ - seen_read_ < AnyRing::kCells;
  }
  /// The next cell to fill in. Precondition: has_cell().
  [[nodiscard]] Cell& cell() noexcept { return ring_->cells[written_ % AnyRing::kCells]; }
  /// The next cell will be filled in soon, and perhaps the one behind it. Their reader may have looked at them
  /// meanwhile, for which it took their lines away again.
  void will_fill() noexcept {
    will_write(&cell(), 1);
    will_write(&ring_->cells[(written_ + 1) % AnyRing::kCells], 1);
  }
  void publish() noexcept {
    Cell& filled = cell();
    filled.common_before = static_cast<std::uint8_t>(common_written_);
    filled.turn.store(++written_, std::memory_order_release);
    // Not the next, which the reader is looking at.
    will_write(&ring_->cells[(written_ + 1) % AnyRing::kCells], sizeof(Cell));
  }
  /// Room for so many bytes side by side (kLongestStretch at most), or null. They count as taken when the cell that
  /// names them is published. Short ones use memory that was never used only where the reader is behind.
  [[nodiscard]] std::byte* bulk(std::uint64_t bytes, Stretch& stretch) noexcept {
    const std::uint64_t place = bulk_written_ % AnyRing::kBulkBytes;
    const bool fits = place + bytes <= AnyRing::kBulkBytes;
    const bool is_new = place + bytes > bulk_used_ && place >= bytes;
    const bool begins_anew = !fits || (is_new && bytes <= kLongestReused && has_read_all());
    const std::uint64_t skipped = begins_anew ? AnyRing::kBulkBytes - place : 0;
    const std::uint64_t end = bulk_written_ + skipped + bytes;
    if (end - seen_bulk_read_ > AnyRing::kBulkBytes) {
      seen_bulk_read_ = ring_->bulk_read.load(std::memory_order_acquire);
      if (end - seen_bulk_read_ > AnyRing::kBulkBytes) return nullptr;
    }
    stretch = {bulk_written_ + skipped, bytes};
    return ring_->bulk.data() + stretch.begin % AnyRing::kBulkBytes;
  }
  /// Keeps what follows on a cache line of its own, and expects it to be as long.
  void take(const Stretch& stretch) noexcept {
    bulk_written_ = (stretch.begin + stretch.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    bulk_used_ = std::max(bulk_used_, stretch.begin % AnyRing::kBulkBytes + stretch.bytes);
    if (stretch.bytes > kMostAheadOfWriting) return;
    const std::uint64_t place = bulk_written_ % AnyRing::kBulkBytes;
    const bool begins_anew = place + stretch.bytes > bulk_used_ && stretch.bytes <= kLongestReused;
    // What is asked for may lie beyond the ring, where it does no harm.
    will_write(ring_->bulk.data() + (begins_anew ? 0 : place), stretch.bytes);
  }
  /// One more cell of this rank's CommonRing is for this reader, which takes it before what is published here later.
  /// Returns its number, for has_passed().
  std::uint32_t add_common() noexcept { return ++common_written_; }
  /// The reader has done with that one, and with all before it.
  [[nodiscard]] bool has_passed(std::uint32_t common) noexcept {
    const auto passed = [&] { return static_cast<std::int32_t>(seen_common_read_ - common) >= 0; };
    if (!passed()) seen_common_read_ = ring_->common_read.load(std::memory_order_acquire);
    return passed();
  }
  void waits(bool waiting) noexcept {
    if (waiting != waiting_) ring_->writer_waits.store(waiting ? 1 : 0, std::memory_order_relaxed);
    waiting_ = waiting;
  }

 private:
  /// As much of the bulk memory is used in any case: so many messages lie between one and the next at its place, and
  /// the reader is not looked for each time.
  static constexpr std::uint64_t kLeastUsed = AnyRing::kBulkBytes / 16;

  [[nodiscard]] bool has_read_all() noexcept {
    seen_bulk_read_ = ring_->bulk_read.load(std::memory_order_acquire);
    return seen_bulk_read_ == bulk_written_;
  }

  AnyRing* ring_;
  std::uint32_t written_ = 0;
  std::uint32_t seen_read_ = 0;
  std::uint32_t common_written_ = 0;
  std::uint32_t seen_common_read_ = 0;
  std::uint64_t bulk_written_ = 0;
  std::uint64_t bulk_used_ = kLeastUsed;
  std::uint64_t seen_bulk_read_ = 0;
  bool waiting_ = false;
};

using RingWriter = BasicRingWriter<Ring>;

template <class AnyRing>
class BasicRingReader {
 public:
  using Cell = typename AnyRing::Cell;

  explicit BasicRingReader(AnyRing& ring) noexcept : ring_(&ring) {}

  /// The next cell, or null.
  [[nodiscard]] const Cell* peek() const noexcept {
    const Cell& next = ring_->cells[read_ % AnyRing::kCells];
    return next.turn.load(std::memory_order_acquire) == read_ + 1 ? &next : nullptr;
  }
  /// Its bytes, which are about to be read.
  [[nodiscard]] const std::byte* bulk(const Stretch& stretch) const noexcept {
    const std::byte* const bytes = ring_->bulk.data() + stretch.begin % AnyRing::kBulkBytes;
    will_read(bytes, std::min(stretch.bytes, kMostAhead));
    return bytes;
  }
  /// The bytes of a message inside the cell, which are about to be read.
  [[nodiscard]] const std::byte* message(const Cell& cell) const noexcept {
    const std::byte* const bytes = cell.message.memory.data();
    if (cell.message.bytes > Cell::kFirstLineBytes) will_read(bytes + Cell::kFirstLineBytes, 1);
    return bytes;
  }
  /// The memory is the writer's again.
  void release(const Stretch& stretch) noexcept {
    const std::uint64_t end = (stretch.begin + stretch.bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    ring_->bulk_read.store(end, std::memory_order_release);
  }
  void pop() noexcept { ring_->cells_read.store(++read_, std::memory_order_release); }
  /// Done with one more cell of the writer's CommonRing.
  void pop_common() noexcept { ring_->common_read.store(++common_read_, std::memory_order_release); }
  /// The writer published that cell before the next one of its CommonRing.
  [[nodiscard]] bool is_next(const Cell& cell) const noexcept {
    return cell.common_before == static_cast<std::uint8_t>(common_read_);
  }
  [[nodiscard]] bool writer_waits() const noexcept { return ring_->writer_waits.load(std::memory_order_relaxed) != 0; }

 private:
  AnyRing* ring_;
  std::uint32_t read_ = 0;
  std::uint32_t common_read_ = 0;
};
using RingReader = BasicRingReader<Ring>;

}  // namespace fab::local
