// The common ring's, the area's and the ring's own code on modelled atomics: one writer, two readers.
#include "providers/local/common_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "model/explorer.h"
#include "providers/local/ring.h"
#include "providers/local/shared_area.h"

namespace fab::model {
namespace {

/// Mistakes of the code that uses the ring.
enum class Mistake { none, no_look_for_cells, no_look_for_area, early_pop };

/// Who gets a message, and by what.
enum class To { first, second, both, first_in_area };

/// One thread sends the messages as providers/local/local_provider.cpp does, two take theirs.
class CommonTraffic {
  using Ring = local::BasicRing<Atomic, 4, 64>;
  using CommonRing = local::BasicCommonRing<Atomic, 64, 2, 2>;
  using CommonWriter = local::BasicCommonWriter<CommonRing>;
  using Area = local::BasicSharedArea<2, local::kCacheLine>;
  static constexpr std::size_t kReaders = 2;

 public:
  explicit CommonTraffic(std::vector<To> messages, Mistake mistake = Mistake::none)
      : messages_(std::move(messages)), mistake_(mistake) {}

  Explorer::Outcome explore() {
    return explorer_.explore([this] { reset(); },
                             {[this] { send_all(); }, [this] { take_all(0); }, [this] { take_all(1); }});
  }
  /// The second reader looks once, at any time, and waits for nothing.
  Explorer::Outcome explore_a_look() {
    return explorer_.explore([this] { reset(); },
                             {[this] { send_all(); }, [this] { take_all(0); }, [this] { look_once(); }});
  }
  CommonTraffic& weaken_turns(Side side) {
    for (CommonRing::Cell& cell : common().cells) explorer_.weaken(&cell.turn, sizeof(cell.turn), side);
    return *this;
  }
  CommonTraffic& weaken_lists(Side side) {
    for (CommonRing::Cell& cell : common().cells) explorer_.weaken(&cell.readers, sizeof(cell.readers), side);
    return *this;
  }
  CommonTraffic& weaken_common_read(Side side) {
    for (std::size_t i = 0; i < kReaders; ++i)
      explorer_.weaken(&ring(i).common_read, sizeof(ring(i).common_read), side);
    return *this;
  }

 private:
  static bool is_for(To to, std::size_t reader) { return to == To::both || (to == To::second) == (reader == 1); }
  void reset() {
    memory_ = {};
    common_memory_ = {};
    writer_.emplace(common());
    area_.emplace(area_memory_.data());
    for (std::size_t i = 0; i < kReaders; ++i) {
      rings_[i].emplace(ring(i));
      readers_[i].emplace(common(), i);
      own_readers_[i].emplace(ring(i));
      writer_->add_link();
      area_->add_link();
    }
  }
  Ring& ring(std::size_t reader) { return *reinterpret_cast<Ring*>(memory_[reader].bytes.data()); }
  CommonRing& common() { return *reinterpret_cast<CommonRing*>(common_memory_.bytes.data()); }

  void send_all() {
    for (std::size_t number = 0; number < messages_.size(); ++number) send(number, messages_[number]);
  }
  void send(std::size_t number, To to) {
    const auto look = [this](Mistake not_if) {
      return [this, not_if](std::size_t link, std::uint32_t cell) {
        return mistake_ == not_if || rings_[link]->has_passed(cell);
      };
    };
    local::Stretch copy;
    if (to == To::first_in_area) {
      std::byte* memory = nullptr;
      while ((memory = area_->take(local::kCacheLine, copy, look(Mistake::no_look_for_area))) == nullptr)
        explorer_.pause();
      explorer_.writes(memory, local::kCacheLine);
      std::memset(memory, static_cast<int>(number), local::kCacheLine);
    }
    local::Places places;
    for (std::size_t i = 0; i < kReaders; ++i)
      if (is_for(to, i)) places.add(i);
    while (!writer_->has_cell(look(Mistake::no_look_for_cells))) explorer_.pause();
    CommonRing::Cell& cell = writer_->begin(places);
    explorer_.writes(&cell.tag, sizeof(cell) - local::kCacheLine);
    cell.tag = number;
    cell.inline_bytes = to == To::first_in_area ? CommonRing::Cell::kInArea : 1;
    if (to == To::first_in_area)
      cell.stretch = copy;
    else
      cell.memory[0] = static_cast<std::byte>(number);
    writer_->publish();
    for (std::size_t i = 0; i < kReaders; ++i) {
      if (!is_for(to, i)) continue;
      const std::uint32_t its_number = rings_[i]->add_common();
      writer_->named_by(i, its_number);
      if (to == To::first_in_area) area_->named_by(i, its_number);
    }
  }

  void take_all(std::size_t reader) {
    for (std::size_t number = 0; number < messages_.size(); ++number)
      if (is_for(messages_[number], reader)) take(reader, number);
  }
  void look_once() {
    const CommonRing::Cell* const cell = readers_[1]->peek();
    if (cell == nullptr) return;
    explorer_.reads(&cell->tag, sizeof(*cell) - local::kCacheLine);
    const auto its = std::ranges::find_if(messages_, [](To to) { return is_for(to, 1); });
    explorer_.require(cell->tag == static_cast<std::size_t>(its - messages_.begin()), "it finds the first that is its");
  }
  void take(std::size_t reader, std::size_t number) {
    const CommonRing::Cell* cell = nullptr;
    while ((cell = readers_[reader]->peek()) == nullptr) explorer_.pause();
    explorer_.reads(&cell->tag, sizeof(*cell) - local::kCacheLine);
    explorer_.require(cell->tag == number, "messages come in order, and to those that they are for");
    const local::Stretch copy = cell->stretch;
    const bool is_inside = cell->inline_bytes != CommonRing::Cell::kInArea;
    if (is_inside) explorer_.require(cell->memory[0] == static_cast<std::byte>(number), "a message has its bytes");
    if (mistake_ == Mistake::early_pop) pop(reader);
    if (!is_inside) {
      const std::byte* const memory = Area::find(area_memory_.data(), copy);
      explorer_.reads(memory, copy.bytes);
      for (std::size_t i = 0; i < copy.bytes; ++i)
        explorer_.require(memory[i] == static_cast<std::byte>(number), "a message comes with its bytes");
    }
    if (mistake_ != Mistake::early_pop) pop(reader);
  }
  void pop(std::size_t reader) {
    readers_[reader]->pop();
    own_readers_[reader]->pop_common();
  }

  template <class What>
  struct alignas(What) Memory {
    std::array<std::byte, sizeof(What)> bytes{};
  };

  std::vector<To> messages_;
  Mistake mistake_;
  Explorer explorer_;
  std::array<Memory<Ring>, kReaders> memory_{};
  Memory<CommonRing> common_memory_{};
  alignas(local::kCacheLine) std::array<std::byte, Area::kBytes> area_memory_{};
  std::optional<CommonWriter> writer_;
  std::optional<Area> area_;
  std::array<std::optional<local::BasicRingWriter<Ring>>, kReaders> rings_;
  std::array<std::optional<local::BasicCommonReader<CommonRing>>, kReaders> readers_;
  std::array<std::optional<local::BasicRingReader<Ring>>, kReaders> own_readers_;
};

using Messages = std::vector<To>;

// More than the ring has cells, and the area quarters, so that those are written anew.
const Messages kToFirst(3, To::first);
const Messages kInArea(3, To::first_in_area);

TEST(CommonRingModel, AReaderGetsEachMessage) {
  for (const Messages& messages : {kToFirst, kInArea}) {
    const Explorer::Outcome outcome = CommonTraffic(messages).explore();
    EXPECT_EQ(outcome.failure, "");
    EXPECT_GT(outcome.executions, 1000u);
  }
}

TEST(CommonRingModel, SeveralReadersGetTheSameMessages) {
  const Explorer::Outcome outcome = CommonTraffic({To::both, To::both}).explore();
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 1000u);
}

// Also where cells that were not for it are written anew while it looks.
TEST(CommonRingModel, AReaderFindsWhatIsItsOwnAlone) {
  for (const Messages& messages :
       {Messages{To::first, To::first, To::second}, Messages{To::first, To::second, To::first}}) {
    const Explorer::Outcome outcome = CommonTraffic(messages).explore_a_look();
    EXPECT_EQ(outcome.failure, "");
    EXPECT_GT(outcome.executions, 1000u);
  }
}

// What the explorer must find.
TEST(CommonRingModel, ACellIsNotWrittenBeforeItsReadersHavePassed) {
  EXPECT_NE(CommonTraffic(kToFirst, Mistake::no_look_for_cells).explore().failure, "");
}
TEST(CommonRingModel, NorIsTheArea) {
  EXPECT_NE(CommonTraffic(kInArea, Mistake::no_look_for_area).explore().failure, "");
}
TEST(CommonRingModel, AReaderPassesACellOnlyOnceItHasCopied) {
  EXPECT_NE(CommonTraffic(kInArea, Mistake::early_pop).explore().failure, "");
}
TEST(CommonRingModel, OrdersMatter) {
  const Messages to_others{To::first, To::first, To::second};
  EXPECT_NE(CommonTraffic(kToFirst).weaken_turns(Side::stores).explore().failure, "");
  EXPECT_NE(CommonTraffic(kToFirst).weaken_turns(Side::loads).explore().failure, "");
  EXPECT_NE(CommonTraffic(to_others).weaken_lists(Side::stores).explore_a_look().failure, "");
  EXPECT_NE(CommonTraffic(to_others).weaken_lists(Side::loads).explore_a_look().failure, "");
  EXPECT_NE(CommonTraffic(kToFirst).weaken_common_read(Side::stores).explore().failure, "");
  EXPECT_NE(CommonTraffic(kToFirst).weaken_common_read(Side::loads).explore().failure, "");
}

/// What one reader gets by its own ring and by the common one.
class Stream {
  using Ring = local::BasicRing<Atomic, 4, 64>;
  using CommonRing = local::BasicCommonRing<Atomic, 64, 4, 4>;
  using Reader = local::BasicStreamReader<Ring, CommonRing>;

 public:
  enum class By { own, common };

  explicit Stream(std::vector<By> messages, bool forgets_to_count = false)
      : messages_(std::move(messages)), forgets_to_count_(forgets_to_count) {}

  Explorer::Outcome explore() {
    return explorer_.explore([this] { reset(); }, {[this] { send_all(); }, [this] { take_all(); }});
  }

 private:
  void reset() {
    ring_memory_.fill(std::byte{0});
    common_memory_.fill(std::byte{0});
    writer_.emplace(ring_);
    common_writer_.emplace(common_);
    common_writer_->add_link();
    reader_.emplace(ring_, common_, 0);
  }
  void send_all() {
    for (std::size_t number = 0; number < messages_.size(); ++number)
      messages_[number] == By::own ? send_own(number) : send_common(number);
  }
  void send_own(std::size_t number) {
    Ring::Cell& cell = writer_->cell();
    explorer_.writes(&cell, sizeof(cell));
    cell.tag = number;
    writer_->publish();
  }
  void send_common(std::size_t number) {
    local::Places places;
    places.add(0);
    CommonRing::Cell& cell = common_writer_->begin(places);
    explorer_.writes(&cell.tag, sizeof(cell.tag));
    cell.tag = number;
    common_writer_->publish();
    if (!forgets_to_count_) common_writer_->named_by(0, writer_->add_common());
  }
  void take_all() {
    for (std::size_t number = 0; number < messages_.size(); ++number) take(number);
  }
  void take(std::size_t number) {
    Reader::Next next;
    while (!(next = reader_->peek())) explorer_.pause();
    const std::uint64_t& tag = next.own != nullptr ? next.own->tag : next.common->tag;
    explorer_.reads(&tag, sizeof(tag));
    explorer_.require(tag == number, "messages come in order");
    next.own != nullptr ? reader_->ring().pop() : reader_->pop_common();
  }

  std::vector<By> messages_;
  bool forgets_to_count_;
  Explorer explorer_;
  alignas(Ring) std::array<std::byte, sizeof(Ring)> ring_memory_{};
  alignas(CommonRing) std::array<std::byte, sizeof(CommonRing)> common_memory_{};
  Ring& ring_ = *reinterpret_cast<Ring*>(ring_memory_.data());
  CommonRing& common_ = *reinterpret_cast<CommonRing*>(common_memory_.data());
  std::optional<local::BasicRingWriter<Ring>> writer_;
  std::optional<local::BasicCommonWriter<CommonRing>> common_writer_;
  std::optional<Reader> reader_;
};

TEST(CommonRingModel, WhatComesByBothRingsComesInOrder) {
  using enum Stream::By;
  for (const std::vector<Stream::By>& messages :
       {std::vector{own, common, own}, std::vector{common, own, common}, std::vector{common, common, own}}) {
    const Explorer::Outcome outcome = Stream(messages).explore();
    EXPECT_EQ(outcome.failure, "");
    EXPECT_GT(outcome.executions, 100u);
  }
}
TEST(CommonRingModel, CellsOfARingTellHowManyCameBefore) {
  using enum Stream::By;
  EXPECT_NE(Stream({common, own}, true).explore().failure, "");
}

}  // namespace
}  // namespace fab::model
