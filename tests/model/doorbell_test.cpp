// A rank that sleeps is woken in every order of steps: the flag's own code, and the ring's if a full one is waited for.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "model/explorer.h"
#include "providers/local/ring.h"
#include "providers/local/sleep_flag.h"

namespace fab::model {
namespace {

constexpr const char* kLostWakeUp = "no thread can go on";

/// What keeps a look behind the store before it; see RemoteDoorbell::needs_fence().
enum class Fence { none, of_sleeper, of_publisher };

/// The flag and the pipe of providers/local/doorbell.h, with the order of its calls.
class Doorbell {
 public:
  Doorbell(Explorer& explorer, Fence fence) : explorer_(explorer), fence_(fence) {}

  void reset() {
    flag_ = {};
    rings_ = {};
  }
  void arm() {
    flag_.raise([this] {
      if (fence_ == Fence::of_sleeper) explorer_.barrier_on_all();
    });
  }
  /// What the kernel does when it sleeps and wakes orders memory.
  void sleep() {
    while (rings_.load() == 0) explorer_.pause();
  }
  void disarm() {
    flag_.lower();
    rings_.exchange(0);
  }
  [[nodiscard]] bool fenced() const { return fence_ == Fence::of_publisher; }
  void ring() {
    if (flag_.claim(fenced())) rings_.fetch_add(1);
  }

 private:
  Explorer& explorer_;
  Fence fence_;
  local::BasicSleepFlag<Atomic> flag_{};
  Atomic<std::uint32_t> rings_{};
};

struct Publishing {
  std::uint32_t times = 1;
  bool other_rings = false;  ///< a second rank, whose publishing does not concern the sleeper
  bool looks_again = true;   ///< the sleeper, after arming
};

std::string publish_to_a_sleeper(Fence fence, const Publishing& how) {
  Explorer explorer;
  Doorbell doorbell(explorer, fence);
  Atomic<std::uint32_t> published{};
  const auto publisher = [&] {
    for (std::uint32_t number = 1; number <= how.times; ++number) {
      published.store(number, std::memory_order_release);
      doorbell.ring();
    }
  };
  const auto sleeper = [&] {
    const auto all_came = [&] { return published.load(std::memory_order_acquire) == how.times; };
    while (!all_came()) {
      doorbell.arm();
      if (!how.looks_again || !all_came()) doorbell.sleep();
      doorbell.disarm();
    }
  };
  const auto other = [&] {
    if (how.other_rings) doorbell.ring();
  };
  return explorer.explore([&] { doorbell.reset(); }, {publisher, sleeper, other}).failure;
}

class DoorbellModel : public testing::TestWithParam<Publishing> {};

TEST_P(DoorbellModel, NoWakeUpIsLostWithABarrierOfTheSleeper) {
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_sleeper, GetParam()), "");
}

TEST_P(DoorbellModel, NoWakeUpIsLostWithFencesOfThePublisher) {
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_publisher, GetParam()), "");
}

TEST_P(DoorbellModel, WithoutEitherAWakeUpIsLost) {
  EXPECT_EQ(publish_to_a_sleeper(Fence::none, GetParam()), kLostWakeUp);
}

TEST_P(DoorbellModel, TheSleeperMustLookAfterArming) {
  Publishing how = GetParam();
  how.looks_again = false;
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_sleeper, how), kLostWakeUp);
  EXPECT_EQ(publish_to_a_sleeper(Fence::of_publisher, how), kLostWakeUp);
}

// Both make the sleeper arm twice.
INSTANTIATE_TEST_SUITE_P(Publishers, DoorbellModel,
                         testing::Values(Publishing{.times = 2}, Publishing{.times = 1, .other_rings = true}),
                         [](const auto& of) { return std::string(of.param.other_rings ? "Two" : "One"); });

// A writer that finds its ring full says so in the ring and sleeps. The reader looks at that before it rings the
// doorbell (Link::poll), where nothing keeps that look behind what it published but the writer's barrier.
std::string sleep_until_there_is_room(Fence fence, bool rings_only_if_asked) {
  using Ring = local::BasicRing<Atomic, 1, 64>;
  constexpr int kMessages = 2;
  Explorer explorer;
  Doorbell doorbell(explorer, fence);
  alignas(Ring) std::array<std::byte, sizeof(Ring)> memory{};
  Ring& ring = *reinterpret_cast<Ring*>(memory.data());
  std::optional<local::BasicRingWriter<Ring>> out;
  std::optional<local::BasicRingReader<Ring>> in;
  const auto writer = [&] {
    for (int number = 0; number < kMessages; ++number) {
      while (!out->has_cell()) {
        out->waits(true);
        doorbell.arm();
        if (!out->has_cell()) doorbell.sleep();
        doorbell.disarm();
      }
      out->waits(false);
      out->publish();
    }
  };
  const auto reader = [&] {
    for (int number = 0; number < kMessages; ++number) {
      while (in->peek() == nullptr) explorer.pause();
      in->pop();
      if (!rings_only_if_asked || in->writer_waits()) doorbell.ring();
    }
  };
  const auto reset = [&] {
    doorbell.reset();
    memory.fill(std::byte{0});
    out.emplace(ring);
    in.emplace(ring);
  };
  return explorer.explore(reset, {writer, reader}).failure;
}

TEST(DoorbellOfAFullRing, TheWriterThatWaitsForRoomIsWoken) {
  EXPECT_EQ(sleep_until_there_is_room(Fence::of_sleeper, true), "");
  EXPECT_EQ(sleep_until_there_is_room(Fence::of_publisher, false), "");
}

TEST(DoorbellOfAFullRing, WhereThePublisherFencesItMustRingInAnyCase) {
  EXPECT_EQ(sleep_until_there_is_room(Fence::of_publisher, true), kLostWakeUp);
}

}  // namespace
}  // namespace fab::model
