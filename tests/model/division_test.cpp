// The copying of a message by both its ends: each slice is taken once, and none of another message.
#include "providers/local/division.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "model/explorer.h"

namespace fab::model {
namespace {

enum class Mistake { none, one_lap_for_all };

/// Two messages one behind the other. The receiver begins the second as soon as nothing is left of the first but what
/// the sender has taken; the sender takes from the first, and knows nothing of the second.
class TwoMessages {
 public:
  TwoMessages(std::uint32_t slices, Mistake mistake) : slices_(slices), mistake_(mistake) {}

  Explorer::Outcome explore() {
    return explorer_.explore([this] { reset(); }, {[this] { receive_both(); }, [this] { help(); }});
  }

 private:
  void reset() {
    division_ = {};
    taken_ = {};
    begun_ = {};
  }
  void count(std::uint32_t message, std::uint32_t slice) {
    explorer_.require(slice < slices_, "a slice is one of the message");
    explorer_.require(taken_[message][slice].fetch_add(1) == 0, "a slice is taken once");
  }
  void receive_both() {
    for (std::uint32_t message = 0; message < 2; ++message) {
      const std::uint32_t lap = mistake_ == Mistake::one_lap_for_all ? 1 : message + 1;
      division_.begin(lap, slices_);
      begun_.store(1);
      while (const auto slice = division_.take_first(lap)) count(message, *slice);
      // The slices that it did not get belong to the sender, or to neither.
    }
    for (std::uint32_t slice = 0; slice < slices_; ++slice)
      explorer_.require(taken_[1][slice].load() == 1, "the second message is the receiver's alone");
  }
  void help() {
    while (begun_.load() == 0) explorer_.pause();
    while (const auto slice = division_.take_last(1)) count(0, *slice);
  }

  std::uint32_t slices_;
  Mistake mistake_;
  Explorer explorer_;
  local::BasicDivision<Atomic> division_{};
  std::array<std::array<Atomic<std::uint32_t>, 4>, 2> taken_{};
  Atomic<std::uint32_t> begun_{};
};

TEST(DivisionModel, EachSliceIsTakenOnce) {
  for (const std::uint32_t slices : {1u, 2u, 3u}) {
    const Explorer::Outcome outcome = TwoMessages(slices, Mistake::none).explore();
    EXPECT_EQ(outcome.failure, "");
    EXPECT_GT(outcome.executions, 5u);
  }
}

TEST(DivisionModel, MessagesNeedLaps) { EXPECT_NE(TwoMessages(2, Mistake::one_lap_for_all).explore().failure, ""); }

}  // namespace
}  // namespace fab::model
