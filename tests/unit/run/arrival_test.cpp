// Waiting for single blocks of a run.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "core/run/wait.h"
#include "support/asleep.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/allocation_count.h"
#include "unit/support/turned_clock.h"

namespace fab::test {
namespace {

/// A run of a schedule that is under way.
class Arrival : public testing::Test {
 protected:
  void start(const Schedule& schedule, const std::vector<Edge>& sources, const RecordingRig::Options& options = {}) {
    pool_.reset();  // ahead of the context that counts its starts
    rig_ = std::make_unique<RecordingRig>(options);
    pool_ = rig_->pool(schedule);
    arrivals_ = pool_->plan().arrivals(sources);
    run_ = &rig_->start(*pool_, buffers_);
  }
  void TearDown() override {
    rig_->provider().settle_all(8);
    for (int i = 0; i < 3; ++i) rig_->poll();
    rig_->let_go(*run_);
  }
  RecordingProvider& provider() { return rig_->provider(); }
  [[nodiscard]] bool has_arrived(std::size_t source) {
    const core::Lock lock(rig_->engine());
    rig_->engine().progress();
    return run_->has_arrived(arrivals_.at(source));
  }
  /// What this rank sent comes back: the other end has the same shape.
  void echo(Rank peer, std::size_t n = 0) {
    const auto handle = static_cast<PeerHandle>(peer);
    const std::size_t receive = provider().find(kRecv, handle, n);
    provider().deliver(receive, provider().posts().at(provider().find(kSend, handle, n)).message);
  }

  Buffers buffers_{200'000};
  std::unique_ptr<RecordingRig> rig_;
  std::shared_ptr<core::RunPool> pool_;
  std::vector<core::Arrival> arrivals_;
  core::Run* run_ = nullptr;
};

const std::vector<Edge> kThree = {{1, 0}, {2, 0}, {3, 0}};

TEST_F(Arrival, OfOneBlockSaysNothingAboutOthers) {
  start(exchange_with({1, 2, 3}, 8), kThree);
  for (const std::size_t source : {1u, 2u, 0u}) {
    EXPECT_FALSE(has_arrived(source));
    provider().deliver(provider().find(kRecv, source + 1), bytes_of(8, 5));
    EXPECT_TRUE(has_arrived(source));
  }
  EXPECT_FALSE(run_->done()) << "the sends are in flight";
}

TEST_F(Arrival, IsWaitedForWithoutAllocations) {
  start(exchange_with({1, 2, 3}, 8), kThree);
  provider().deliver(provider().find(kRecv, 2), bytes_of(8, 5));
  const std::array<std::size_t, 3> wanted = {0, 2, 1};
  const std::size_t before = allocation_count();
  const core::Arrived arrived = core::wait_any(*run_, arrivals_, wanted);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(arrived.position, 2u);
  EXPECT_TRUE(arrived.status.ok());
  EXPECT_EQ(buffers_.recv[8], std::byte{5});
}

TEST_F(Arrival, OfALongMessageTakesAllItsParts) {
  ScheduleBuilder builder("test", 2);
  const Layout scattered = Layout::vector(100, 1, 8000, Layout::contiguous(4000));
  builder.send(1, 0, {BufferId::send, 0, scattered});
  builder.recv(1, 0, {BufferId::recv, 0, scattered});
  buffers_ = Buffers(800'000);
  for (const auto& order : {std::array{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 0, 2}}) {
    start(builder.commit(), {{1, 0}});
    ASSERT_EQ(provider().count(kRecv), order.size());
    for (const int part : order) {
      EXPECT_FALSE(has_arrived(0));
      echo(1, static_cast<std::size_t>(part));
    }
    EXPECT_TRUE(has_arrived(0));
    EXPECT_EQ(buffers_.recv[99 * 8000], std::byte{1});
    EXPECT_TRUE(run_->status().ok()) << run_->status().message;
    if (order[0] != 1 || order[1] != 0) TearDown();
  }
}

TEST_F(Arrival, OfCombinedBlocksIsThatOfTheirMessage) {
  ScheduleBuilder builder("test", 4);
  for (const std::uint32_t slot : {0u, 1u, 2u})
    for (const Rank peer : {1, 2}) {
      const auto offset = static_cast<std::ptrdiff_t>(16 * slot) + 8 * (peer - 1);
      builder.send(peer, slot, {BufferId::send, offset, Layout::contiguous(8)});
      builder.recv(peer, slot, {BufferId::recv, offset, Layout::contiguous(8)});
    }
  start(builder.commit({.combine_bytes = 100}), {{1, 0}, {2, 0}, {1, 2}, {2, 1}});
  ASSERT_EQ(provider().count(kRecv), 2u);
  echo(1);
  EXPECT_TRUE(has_arrived(0));
  EXPECT_FALSE(has_arrived(1));
  EXPECT_TRUE(has_arrived(2));
  echo(2);
  EXPECT_TRUE(has_arrived(1));
  EXPECT_TRUE(has_arrived(3));
}

TEST_F(Arrival, OfWhatDoesNotTravelComesWithTheStart) {
  ScheduleBuilder builder("test", 2);
  builder.recv(1, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.recv(1, 1, {BufferId::recv, 0, Layout()});
  builder.copy({BufferId::send, 0, Layout::contiguous(8)}, {BufferId::recv, 8, Layout::contiguous(8)});
  RecordingRig::Options options;
  options.known = false;
  start(builder.commit(), {{1, 0}, {1, 1}, {0, 0}}, options);
  for (const std::size_t source : {0u, 1u, 2u}) EXPECT_FALSE(has_arrived(source)) << "the run has not begun";
  rig_->publish(1);
  rig_->poll();
  EXPECT_FALSE(has_arrived(0));
  EXPECT_TRUE(has_arrived(1));
  EXPECT_TRUE(has_arrived(2));
  EXPECT_EQ(buffers_.recv[8], std::byte{1});
}

TEST_F(Arrival, InALaterRoundWaitsForThatRound) {
  ScheduleBuilder builder("test", 3);
  builder.recv(1, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.round();
  builder.recv(2, 0, {BufferId::recv, 8, Layout::contiguous(8)});
  start(builder.commit(), {{1, 0}, {2, 0}});
  EXPECT_FALSE(has_arrived(1));
  provider().deliver(provider().find(kRecv, 1), bytes_of(8, 5));
  EXPECT_TRUE(has_arrived(0));
  EXPECT_FALSE(has_arrived(1));
  EXPECT_TRUE(has_arrived(0)) << "the round of the first is over";
}

TEST_F(Arrival, AFailureIsToldOnceNothingWritesToTheBlock) {
  start(exchange_with({1, 2, 3}, 8), kThree);
  provider().fail(provider().find(kRecv, 1), Errc::transport, "the cable is cut");
  EXPECT_TRUE(has_arrived(0));
  EXPECT_FALSE(has_arrived(1)) << "rank 2 may still send";
  const std::array<std::size_t, 2> wanted = {1, 0};
  const core::Arrived arrived = core::wait_any(*run_, arrivals_, wanted);
  EXPECT_EQ(arrived.position, 1u);
  EXPECT_EQ(arrived.status.errc(), Errc::transport);
  EXPECT_FALSE(run_->done());
}

TEST_F(Arrival, WaitingForOneTimesOut) {
  RecordingRig::Options options;
  options.config.wait_timeout_s = 0.05;
  start(exchange_with({1, 2, 3}, 8), kThree, options);
  rig_->context().set_clock(RunningClock::now);
  const std::array<std::size_t, 1> wanted = {1};
  const core::Arrived arrived = core::wait_any(*run_, arrivals_, wanted);
  EXPECT_EQ(arrived.status.errc(), Errc::timed_out);
}

// A thread that waits for another run leads and polls; who waits for a block must hear of it though no run ends.
TEST_F(Arrival, WakesAThreadThatFollows) {
  constexpr std::uint32_t kBlocks = 20;
  std::vector<Edge> sources;
  for (std::uint32_t slot = 0; slot < kBlocks; ++slot) sources.push_back({1, slot});
  start(exchange_with({1}, 8, kBlocks), sources);
  core::Run& other = rig_->start(exchange_with({2}, 8), buffers_);
  std::thread leader([&] { core::wait(other); });
  while (provider().background_polls() == 0) std::this_thread::yield();
  std::atomic<std::size_t> told = 0;
  WatchedThread follower([&] {
    for (std::size_t source = 0; source < kBlocks; ++source) {
      EXPECT_TRUE(core::wait_any(*run_, arrivals_, {&source, 1}).status.ok());
      ++told;
    }
  });
  for (std::uint32_t slot = 0; slot < kBlocks; ++slot) {
    follower.wait_until_asleep();
    provider().deliver(provider().find(kRecv, 1, slot), bytes_of(8, 1));
    while (told <= slot) std::this_thread::yield();
  }
  follower.join();
  EXPECT_EQ(rig_->context().counters()[core::Counter::late_wake_ups], 0u) << "the bound on sleeps ended one";
  EXPECT_FALSE(other.done());
  provider().settle_all(8);
  leader.join();
  rig_->let_go(other);
}

}  // namespace
}  // namespace fab::test
