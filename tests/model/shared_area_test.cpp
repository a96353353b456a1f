// The area's and the ring's own code on modelled atomics: one writer, two readers of the same copies.
#include "providers/local/shared_area.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "model/explorer.h"
#include "providers/local/ring.h"

namespace fab::model {
namespace {

/// Mistakes of the code that uses an area.
enum class Mistake { none, no_look, early_pop };

/// Each message fills one of two quarters, so that the third lies where the first one did.
class SharedTraffic {
  using Ring = local::BasicRing<Atomic, 8, 64>;
  using Area = local::BasicSharedArea<2, local::kCacheLine>;
  static constexpr std::size_t kReaders = 2;

 public:
  explicit SharedTraffic(std::size_t messages, Mistake mistake = Mistake::none)
      : messages_(messages), mistake_(mistake) {}

  Explorer::Outcome explore() {
    return explorer_.explore([this] { reset(); },
                             {[this] { send_all(); }, [this] { take_all(0); }, [this] { take_all(1); }});
  }

 private:
  void reset() {
    memory_ = {};
    area_.emplace(area_memory_.data());
    for (std::size_t i = 0; i < kReaders; ++i) {
      writers_[i].emplace(ring(i));
      readers_[i].emplace(ring(i));
      area_->add_link();
    }
  }
  Ring& ring(std::size_t reader) { return *reinterpret_cast<Ring*>(memory_[reader].bytes.data()); }

  void send_all() {
    for (std::size_t number = 0; number < messages_; ++number) send(number);
  }
  void send(std::size_t number) {
    local::Stretch copy;
    std::byte* memory = nullptr;
    const auto has_passed = [this](std::size_t link, std::uint32_t cell) {
      return mistake_ == Mistake::no_look || writers_[link]->has_passed(cell);
    };
    while ((memory = area_->take(local::kCacheLine, copy, has_passed)) == nullptr) explorer_.pause();
    explorer_.writes(memory, local::kCacheLine);
    std::memset(memory, static_cast<int>(number), local::kCacheLine);
    for (std::size_t i = 0; i < kReaders; ++i) {
      Ring::Cell& cell = writers_[i]->cell();
      explorer_.writes(&cell, sizeof(cell));
      cell.kind = local::CellKind::shared;
      cell.stretch = copy;
      writers_[i]->publish();
      area_->named_by(i, writers_[i]->last_cell());
    }
    area_->release();
  }
  void take_all(std::size_t reader) {
    for (std::size_t number = 0; number < messages_; ++number) take(*readers_[reader], number);
  }
  void take(local::BasicRingReader<Ring>& reader, std::size_t number) {
    const Ring::Cell* cell = nullptr;
    while ((cell = reader.peek()) == nullptr) explorer_.pause();
    explorer_.reads(cell, sizeof(*cell));
    const local::Stretch copy = cell->stretch;
    if (mistake_ == Mistake::early_pop) reader.pop();
    const std::byte* const memory = Area::find(area_memory_.data(), copy);
    explorer_.reads(memory, copy.bytes);
    for (std::size_t i = 0; i < copy.bytes; ++i)
      explorer_.require(memory[i] == static_cast<std::byte>(number), "a message comes with its bytes");
    if (mistake_ != Mistake::early_pop) reader.pop();
  }

  struct alignas(Ring) RingMemory {
    std::array<std::byte, sizeof(Ring)> bytes{};
  };

  std::size_t messages_;
  Mistake mistake_;
  Explorer explorer_;
  std::array<RingMemory, kReaders> memory_{};
  alignas(local::kCacheLine) std::array<std::byte, Area::kBytes> area_memory_{};
  std::optional<Area> area_;
  std::array<std::optional<local::BasicRingWriter<Ring>>, kReaders> writers_;
  std::array<std::optional<local::BasicRingReader<Ring>>, kReaders> readers_;
};

TEST(SharedAreaModel, BothReadersGetEachMessage) {
  const Explorer::Outcome outcome = SharedTraffic(3).explore();
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 1000u);
}

// What the explorer must find.
TEST(SharedAreaModel, AQuarterIsNotWrittenBeforeItsReadersHavePassed) {
  EXPECT_NE(SharedTraffic(3, Mistake::no_look).explore().failure, "");
}
TEST(SharedAreaModel, AReaderPassesACellOnlyOnceItHasCopied) {
  EXPECT_NE(SharedTraffic(3, Mistake::early_pop).explore().failure, "");
}

}  // namespace
}  // namespace fab::model
