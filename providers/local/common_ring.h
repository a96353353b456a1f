// A queue from one process to all others of its node: each cell is written once and read by those that it names.
//
// The writer does not wait for others: who is not named may find that cells were written anew since it looked, and goes
// on behind them. So it never takes a cell for its own in which it saw the list of readers of a later one. What a rank
// sends to one reader by its own ring and by this one is one sequence: a ring's cells tell how many of these came
// before (StreamReader). The templates let tests/model run this code on atomics of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "providers/local/readers.h"
#include "providers/local/ring.h"

namespace fab::local {

/// `places`: of the node, that it can name.
template <template <class> class Atomic, std::size_t places>
struct alignas(2 * kCacheLine) BasicCommonCell {
  static constexpr std::size_t kPlaces = places;
  static constexpr std::size_t kPlacesInWord = 64;
  static constexpr std::size_t kWords = kPlaces / kPlacesInWord;
  static constexpr std::size_t kInlineBytes = 2 * kCacheLine - (kWords + 3) * sizeof(std::uint64_t);
  static constexpr std::size_t kFirstLineBytes = kInlineBytes - kCacheLine;

  Atomic<std::uint64_t> turn;  ///< the cell's number plus one; the number alone while it is being written
  std::array<Atomic<std::uint64_t>, kWords> readers;  ///< a bit for each place on the node
  std::uint64_t tag;
  std::uint32_t inline_bytes;  ///< or kInArea
  union {
    std::array<std::byte, kInlineBytes> memory;
    Stretch stretch;  ///< of a SharedArea
  };

  static constexpr std::uint32_t kInArea = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return inline_bytes == kInArea ? stretch.bytes : inline_bytes; }
};
using CommonCell = BasicCommonCell<std::atomic, 256>;
static_assert(sizeof(CommonCell) == 2 * kCacheLine);

/// New memory is all zeros, which is an empty ring.
template <template <class> class Atomic, std::size_t places, std::size_t cell_count, std::size_t quarters = 4>
struct BasicCommonRing {
  using Cell = BasicCommonCell<Atomic, places>;
  static constexpr std::size_t kCells = cell_count;
  static constexpr std::size_t kQuarters = quarters;
  static_assert(kCells % kQuarters == 0 && kCells > 1);
  static_assert(kCells <= 128, "Cell::common_before tells as many apart");

  std::array<Cell, kCells> cells;
};
using CommonRing = BasicCommonRing<std::atomic, CommonCell::kPlaces, 64>;

/// The places on the node that a cell names.
class Places {
 public:
  void add(std::size_t place) noexcept {
    words_[place / CommonCell::kPlacesInWord] |= std::uint64_t{1} << place % CommonCell::kPlacesInWord;
    ++count_;
  }
  [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept { return words_[i]; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::array<std::uint64_t, CommonCell::kWords> words_{};
  std::size_t count_ = 0;
};

template <class AnyRing>
class BasicCommonWriter {
 public:
  using Cell = typename AnyRing::Cell;

  explicit BasicCommonWriter(AnyRing& ring) noexcept : ring_(&ring) {}

  void add_link() { readers_.add_link(); }
  /// `has_passed` as BasicReaders has it.
  template <class HasPassed>
  [[nodiscard]] bool has_cell(HasPassed&& has_passed) noexcept {
    if (!quarter_is_old_) return true;
    if (!readers_.have_left(quarter(), has_passed)) return false;
    readers_.forget(quarter());
    quarter_is_old_ = false;
    return true;
  }
  /// The next cell, to be filled in. Precondition: has_cell().
  [[nodiscard]] Cell& begin(const Places& readers) noexcept {
    Cell& cell = ring_->cells[written_ % AnyRing::kCells];
    cell.turn.store(written_, std::memory_order_relaxed);
    for (std::size_t i = 0; i < cell.readers.size(); ++i)
      cell.readers[i].store(readers.word(i), std::memory_order_release);
    return cell;
  }
  void publish() noexcept {
    Cell& filled = ring_->cells[written_ % AnyRing::kCells];
    last_quarter_ = quarter();
    filled.turn.store(++written_, std::memory_order_release);
    quarter_is_old_ = quarter_is_old_ || written_ % kQuarterCells == 0;
    // Not the next, which the readers are looking at.
    will_write(&ring_->cells[(written_ + 1) % AnyRing::kCells], sizeof(Cell));
  }
  /// What was published last is for that link's reader, which knows it by that number.
  void named_by(std::size_t link, std::uint32_t common) noexcept { readers_.add(last_quarter_, link, common); }

 private:
  static constexpr std::size_t kQuarterCells = AnyRing::kCells / AnyRing::kQuarters;

  [[nodiscard]] std::size_t quarter() const noexcept { return written_ / kQuarterCells % AnyRing::kQuarters; }

  AnyRing* ring_;
  std::uint64_t written_ = 0;
  std::size_t last_quarter_ = 0;
  bool quarter_is_old_ = false;  ///< the next cell is the first of a quarter whose readers were not looked for
  BasicReaders<AnyRing::kQuarters> readers_;
};
using CommonWriter = BasicCommonWriter<CommonRing>;

/// The end of one reader, at that place on the node.
template <class AnyRing>
class BasicCommonReader {
 public:
  using Cell = typename AnyRing::Cell;

  BasicCommonReader(const AnyRing& ring, std::size_t place) noexcept
      : ring_(&ring),
        word_(place % Cell::kPlaces / Cell::kPlacesInWord),
        bit_(place < Cell::kPlaces ? std::uint64_t{1} << place % Cell::kPlacesInWord : 0) {}

  /// The next cell that names this reader, or null.
  [[nodiscard]] const Cell* peek() noexcept {
    while (true) {
      const Cell& cell = ring_->cells[passed_ % AnyRing::kCells];
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn <= passed_) return nullptr;
      if (turn > passed_ + 1) {
        catch_up(turn);
        continue;
      }
      const bool is_named = (cell.readers[word_].load(std::memory_order_acquire) & bit_) != 0;
      // Otherwise the list may be a later cell's.
      if (is_named && cell.turn.load(std::memory_order_relaxed) == turn) return &cell;
      if (!is_named) ++passed_;
    }
  }
  /// Its bytes, if they lie inside. They are about to be read.
  [[nodiscard]] static const std::byte* memory(const Cell& cell) noexcept {
    const std::byte* const bytes = cell.memory.data();
    if (cell.inline_bytes > Cell::kFirstLineBytes) will_read(bytes + Cell::kFirstLineBytes, 1);
    return bytes;
  }
  void pop() noexcept { ++passed_; }

 private:
  // To the oldest cell that may still be there. All before it have been written anew, so they were not for this reader.
  void catch_up(std::uint64_t turn) noexcept {
    const std::uint64_t laps = (turn - passed_) / AnyRing::kCells;
    passed_ += (laps - 1) * AnyRing::kCells + 1;
  }

  const AnyRing* ring_;
  std::size_t word_;
  std::uint64_t bit_;
  std::uint64_t passed_ = 0;
};
using CommonReader = BasicCommonReader<CommonRing>;

/// What one rank sends to another one, by the ring between them and by its common ring, in the order in which it was
/// sent.
template <class AnyRing, class AnyCommonRing>
class BasicStreamReader {
 public:
  using Cell = typename AnyRing::Cell;
  using CommonCell = typename AnyCommonRing::Cell;
  /// One of them, or none.
  struct Next {
    const Cell* own = nullptr;
    const CommonCell* common = nullptr;

    [[nodiscard]] explicit operator bool() const noexcept { return own != nullptr || common != nullptr; }
  };

  BasicStreamReader(AnyRing& ring, const AnyCommonRing& common, std::size_t place) noexcept
      : ring_(ring), common_(common, place) {}

  // What was published before a common cell that is seen here is seen as well, if it is looked for afterwards; and so
  // is a common cell before one of the ring.
  [[nodiscard]] Next peek() noexcept {
    while (true) {
      const Cell* own = ring_.peek();
      if (own != nullptr && ring_.is_next(*own)) return {.own = own};
      const CommonCell* const common = common_.peek();
      if (common != nullptr) return next_to(*common);
      if (own == nullptr) return {};
    }
  }
  /// The reader's end of the ring.
  [[nodiscard]] BasicRingReader<AnyRing>& ring() noexcept { return ring_; }
  void pop_common() noexcept {
    common_.pop();
    ring_.pop_common();
  }

 private:
  [[nodiscard]] Next next_to(const CommonCell& common) noexcept {
    const Cell* const own = ring_.peek();
    if (own != nullptr && ring_.is_next(*own)) return {.own = own};
    return {.common = &common};
  }

  BasicRingReader<AnyRing> ring_;
  BasicCommonReader<AnyCommonRing> common_;
};
using StreamReader = BasicStreamReader<Ring, CommonRing>;

}  // namespace fab::local
