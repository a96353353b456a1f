// The ring's own code on modelled atomics: every message arrives as it was sent, and no memory has two owners.
#include "providers/local/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>

#include "model/explorer.h"

namespace fab::model {
namespace {

/// Mistakes of the code that uses a ring.
enum class Mistake { none, no_look_for_cells, no_look_for_room, early_publish, early_pop, early_release };

/// The bytes of each message; what is longer than a cell's inside lies in the bulk memory.
using Messages = std::vector<std::size_t>;

/// One thread sends the messages as providers/local/link.cpp does, the other takes them.
template <std::uint32_t cells>
class Traffic {
  using Ring = local::BasicRing<Atomic, cells, 512>;
  using Cell = typename Ring::Cell;

 public:
  explicit Traffic(Messages messages, Mistake mistake = Mistake::none)
      : messages_(std::move(messages)), mistake_(mistake) {}

  Explorer::Outcome explore() {
    return explorer_.explore([this] { reset(); }, {[this] { send_all(); }, [this] { take_all(); }});
  }
  /// Stores are to release nothing, or loads to acquire nothing.
  Traffic& weaken_turns(Side side) {
    for (Cell& cell : ring_.cells) explorer_.weaken(&cell.turn, sizeof(cell.turn), side);
    return *this;
  }
  Traffic& weaken_cells_read(Side side) { return weaken(&ring_.cells_read, sizeof(ring_.cells_read), side); }
  Traffic& weaken_bulk_read(Side side) { return weaken(&ring_.bulk_read, sizeof(ring_.bulk_read), side); }

 private:
  Traffic& weaken(const void* atomic, std::size_t bytes, Side side) {
    explorer_.weaken(atomic, bytes, side);
    return *this;
  }
  void reset() {
    memory_.fill(std::byte{0});
    writer_.emplace(ring_);
    reader_.emplace(ring_);
  }

  void send_all() {
    for (std::size_t number = 0; number < messages_.size(); ++number) send(number, messages_[number]);
  }
  void send(std::size_t number, std::size_t bytes) {
    while (mistake_ != Mistake::no_look_for_cells && !writer_->has_cell()) explorer_.pause();
    Cell& cell = writer_->cell();
    if (mistake_ == Mistake::early_publish) writer_->publish();
    if (bytes <= Cell::kInlineBytes) {
      explorer_.writes(&cell, sizeof(cell));
      cell.kind = local::CellKind::message;
      cell.message.bytes = bytes;
      cell.message.memory.fill(static_cast<std::byte>(number));
    } else {
      local::Stretch stretch;
      std::byte* const memory = room(bytes, stretch);
      explorer_.writes(memory, bytes);
      std::memset(memory, static_cast<int>(number), bytes);
      explorer_.writes(&cell, sizeof(cell));
      cell.kind = local::CellKind::bulk;
      cell.stretch = stretch;
      writer_->take(stretch);
    }
    cell.tag = number;
    if (mistake_ != Mistake::early_publish) writer_->publish();
  }
  std::byte* room(std::size_t bytes, local::Stretch& stretch) {
    std::byte* memory = nullptr;
    while ((memory = writer_->bulk(bytes, stretch)) == nullptr) {
      if (mistake_ == Mistake::no_look_for_room) {
        stretch = {0, bytes};
        return ring_.bulk.data();
      }
      explorer_.pause();
    }
    return memory;
  }

  void take_all() {
    for (std::size_t number = 0; number < messages_.size(); ++number) take(number, messages_[number]);
  }
  void take(std::size_t number, std::size_t bytes) {
    const Cell* cell = nullptr;
    while ((cell = reader_->peek()) == nullptr) explorer_.pause();
    if (mistake_ == Mistake::early_pop) reader_->pop();
    explorer_.reads(cell, sizeof(*cell));
    explorer_.require(cell->tag == number, "messages come in order");
    if (cell->kind == local::CellKind::message) {
      check(reader_->message(*cell), cell->message.bytes, number, bytes);
    } else {
      const local::Stretch stretch = cell->stretch;
      if (mistake_ == Mistake::early_release) reader_->release(stretch);
      explorer_.reads(reader_->bulk(stretch), stretch.bytes);
      check(reader_->bulk(stretch), stretch.bytes, number, bytes);
      if (mistake_ != Mistake::early_release) reader_->release(stretch);
    }
    if (mistake_ != Mistake::early_pop) reader_->pop();
  }
  void check(const std::byte* memory, std::uint64_t came, std::size_t number, std::size_t bytes) {
    explorer_.require(came == bytes, "a message comes with its length");
    for (std::size_t i = 0; i < bytes; ++i)
      explorer_.require(memory[i] == static_cast<std::byte>(number), "a message comes with its bytes");
  }

  Messages messages_;
  Mistake mistake_;
  Explorer explorer_;
  alignas(Ring) std::array<std::byte, sizeof(Ring)> memory_{};
  Ring& ring_ = *reinterpret_cast<Ring*>(memory_.data());
  std::optional<local::BasicRingWriter<Ring>> writer_;
  std::optional<local::BasicRingReader<Ring>> reader_;
};

// Twice round the cells, or twice round the bulk memory, where what does not fit at its end begins anew.
Traffic<2> in_cells(Mistake mistake = Mistake::none) { return Traffic<2>({0, 8, 104, 104, 1}, mistake); }
Traffic<4> in_bulk(Mistake mistake = Mistake::none) { return Traffic<4>({200, 120, 240, 128}, mistake); }
Traffic<2> in_both() { return Traffic<2>({120, 8, 256, 256}); }

void expect_no_failure(auto&& traffic) {
  const Explorer::Outcome outcome = traffic.explore();
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 1000u);
}

TEST(RingModel, ShortMessagesArrive) { expect_no_failure(in_cells()); }
TEST(RingModel, MessagesInBulkMemoryArrive) { expect_no_failure(in_bulk()); }
TEST(RingModel, BothArrive) { expect_no_failure(in_both()); }

// What the explorer must find: each release, each acquire and each step of the protocol is needed.

constexpr const char* kWritten = "memory is written while another thread may use it";
constexpr const char* kRead = "memory is read while it may be written";

TEST(RingModel, TurnsMustBeReleasedAndAcquired) {
  EXPECT_EQ(in_cells().weaken_turns(Side::stores).explore().failure, kRead);
  EXPECT_EQ(in_cells().weaken_turns(Side::loads).explore().failure, kRead);
}

TEST(RingModel, TheReadersPlaceMustBeReleasedAndAcquired) {
  EXPECT_EQ(in_cells().weaken_cells_read(Side::stores).explore().failure, kWritten);
  EXPECT_EQ(in_cells().weaken_cells_read(Side::loads).explore().failure, kWritten);
}

TEST(RingModel, TheReadersPlaceInBulkMemoryMustBeReleasedAndAcquired) {
  EXPECT_EQ(in_bulk().weaken_bulk_read(Side::stores).explore().failure, kWritten);
  EXPECT_EQ(in_bulk().weaken_bulk_read(Side::loads).explore().failure, kWritten);
}

TEST(RingModel, MistakesOfItsUsersShow) {
  EXPECT_NE(in_cells(Mistake::no_look_for_cells).explore().failure, "");
  EXPECT_NE(in_bulk(Mistake::no_look_for_room).explore().failure, "");
  EXPECT_NE(in_cells(Mistake::early_publish).explore().failure, "");
  EXPECT_EQ(in_cells(Mistake::early_pop).explore().failure, kWritten);
  EXPECT_EQ(in_bulk(Mistake::early_release).explore().failure, kWritten);
}

}  // namespace
}  // namespace fab::model
