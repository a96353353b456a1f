// A rank that sleeps is woken, whatever the order: the flag's own code, and the ring's where a full one is waited for.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "model/explorer.h"
#include "providers/local/ring.h"
#include "providers/local/sleep_flag.h"

namespace fab::model {
namespace {

constexpr const char* kLostWakeUp = "nobody can go on";

/// What keeps a look behind the store before it; see BellRope::needs_fence().
enum class Fence { none, of_sleeper, of_publisher };

/// The flag and the pipe of providers/local/bell.h, with the order of its calls.
class Bell {
 public:
  Bell(Explorer& explorer, Fence fence) : explorer_(explorer), fence_(fence) {}

  void reset() {
    flag_ = {};
    sounds_ = {};
  }
  void arm() {
    flag_.raise([this] {
      if (fence_ == Fence::of_sleeper) explorer_.barrier_on_all();
    });
  }
  /// What the kernel does when it sleeps and wakes orders memory.
  void sleep() {
    while (sounds_.load() == 0) explorer_.pause();
  }
  void disarm() {
    flag_.lower();
    sounds_.exchange(0);
  }
  [[nodiscard]] bool fenced() const { return fence_ == Fence::of_publisher; }
  void pull() {
    if (flag_.claim(fenced())) sounds_.fetch_add(1);
  }

 private:
  Explorer& explorer_;
  Fence fence_;
  local::BasicSleepFlag<Atomic> flag_{};
  Atomic<std::uint32_t> sounds_{};
};

struct Publishing {
  std::uint32_t times = 1;
  bool other_rings = false;  ///< a second rank, whose publishing does not concern the sleeper
  bool looks_again = true;   ///< the sleeper, after arming
};

std::string publish_to_a_sleeper(Fence fence, const Publishing& how) {
  Explorer explorer;
  Bell bell(explorer, fence);
  Atomic<std::uint32_t> published{};
  const auto publisher = [&] {
    for (std::uint32_t number = 1; number <= how.times; ++number) {
      published.store(number, std::memory_order_release);
      bell.pull();
    }
  };
  const auto sleeper = [&] {
    const auto all_came = [&] { return published.load(std::memory_order_acquire) == how.times; };
    while (!all_came()) {
      bell.arm();
      if (!how.looks_again || !all_came()) bell.sleep();
      bell.disarm();
    }
  };
  const auto other = [&] {
    if (how.other_rings) bell.pull();
  };
  return explorer.explore([&] { bell.reset(); }, {publisher, sleeper, other}).failure;
}

class BellModel : public testing::TestWithParam<Publishing> {};

TEST_P(BellModel, NoWakeUpIsLostWithABarrierOfTheSleeper) {
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_sleeper, GetParam()), "");
}

TEST_P(BellModel, NoWakeUpIsLostWithFencesOfThePublisher) {
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_publisher, GetParam()), "");
}

TEST_P(BellModel, WithoutEitherAWakeUpIsLost) { EXPECT_EQ(publish_to_a_sleeper(Fence::none, GetParam()), kLostWakeUp); }

TEST_P(BellModel, TheSleeperMustLookAfterArming) {
  Publishing how = GetParam();
  how.looks_again = false;
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_sleeper, how), kLostWakeUp);
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_publisher, how), kLostWakeUp);
}

// Both make the sleeper arm twice.
INSTANTIATE_TEST_SUITE_P(Publishers, BellModel,
                         testing::Values(Publishing{.times = 2}, Publishing{.times = 1, .other_rings = true}),
                         [](const auto& of) { return std::string(of.param.other_rings ? "Two" : "One"); });

// A writer that finds its ring full says so in the ring and sleeps. The reader looks at that before it pulls the rope
// (Link::poll), where nothing keeps that look behind what it published but the writer's barrier.
std::string sleep_until_there_is_room(Fence fence, bool pulls_only_if_asked) {
  using Ring = local::BasicRing<Atomic, 1, 64>;
  constexpr int kMessages = 2;
  Explorer explorer;
  Bell bell(explorer, fence);
  alignas(Ring) std::array<std::byte, sizeof(Ring)> memory{};
  Ring& ring = *reinterpret_cast<Ring*>(memory.data());
  std::optional<local::BasicRingWriter<Ring>> out;
  std::optional<local::BasicRingReader<Ring>> in;
  const auto writer = [&] {
    for (int number = 0; number < kMessages; ++number) {
      while (!out->has_cell()) {
        out->waits(true);
        bell.arm();
        if (!out->has_cell()) bell.sleep();
        bell.disarm();
      }
      out->waits(false);
      out->publish();
    }
  };
  const auto reader = [&] {
    for (int number = 0; number < kMessages; ++number) {
      while (in->peek() == nullptr) explorer.pause();
      in->pop();
      if (!pulls_only_if_asked || in->writer_waits()) bell.pull();
    }
  };
  const auto reset = [&] {
    bell.reset();
    memory.fill(std::byte{0});
    out.emplace(ring);
    in.emplace(ring);
  };
  return explorer.explore(reset, {writer, reader}).failure;
}

TEST(BellOfAFullRing, TheWriterThatWaitsForRoomIsWoken) {
  EXPECT_EQ(sleep_until_there_is_room(Fence::of_sleeper, true), "");
  EXPECT_EQ(sleep_until_there_is_room(Fence::of_publisher, false), "");
}

TEST(BellOfAFullRing, WhereThePublisherFencesItMustPullInAnyCase) {
  EXPECT_EQ(sleep_until_there_is_room(Fence::of_publisher, true), kLostWakeUp);
}

}  // namespace
}  // namespace fab::model
