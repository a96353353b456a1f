// Waits with a limit of the caller's. What they must not see is held back until they have returned.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

using TimedWaits = test::OnAllRanks;

/// Far beyond the limits of the test.
constexpr auto kLong = 24h;

TEST_F(TimedWaits, EndWithTheirTimeOrWithTheRequest) {
  int in = -1;
  Request receive = irecv(world(), in, {previous(), Tag{3}});
  EXPECT_FALSE(receive.wait_for(0s));
  EXPECT_FALSE(receive.done());
  EXPECT_FALSE(receive.wait_until(Clock::now() - 1h));
  for (const auto time : {300us, 2000us, 150'000us}) {  // spinning, one sleep, several
    const auto begin = Clock::now();
    EXPECT_FALSE(receive.wait_for(time));
    EXPECT_GE(Clock::now() - begin, time);
    EXPECT_TRUE(receive.active());
  }
  barrier(world());  // so that no rank has sent until now
  const int out = rank();
  Request sent = isend(world(), out, {next(), Tag{3}});
  EXPECT_TRUE(receive.wait_for(kLong));
  EXPECT_FALSE(receive.active());
  EXPECT_TRUE(receive.done());
  EXPECT_EQ(in, previous());
  EXPECT_EQ(receive.message(), (MessageInfo{previous(), Tag{3}, sizeof(int)}));
  EXPECT_TRUE(receive.wait_for(std::chrono::hours::max())) << "not active";
  sent.wait();
}

TEST_F(TimedWaits, TellFailures) {
  std::array<int, 1> in{};
  const std::array<int, 2> out{};
  Request first = irecv(world(), in, {previous(), Tag{5}});
  Request second = irecv(world(), in, {previous(), Tag{5}});
  Request sends[] = {isend(world(), out, {next(), Tag{5}}), isend(world(), out, {next(), Tag{5}})};
  const Result<bool> complete = first.try_wait_for(kLong);
  ASSERT_FALSE(complete.ok());
  EXPECT_EQ(complete.status().errc(), Errc::truncated);
  EXPECT_FALSE(first.active());
  EXPECT_THROW(static_cast<void>(second.wait_for(kLong)), Error);
  Request::wait_all(sends);
}

TEST_F(TimedWaits, OfPersistentExchanges) {
  const Communicator comm = ring();
  const std::array<int, 2> out{rank(), rank()};
  std::array<int, 2> in{};
  PersistentExchange exchange = neighbor_xchg.persistent(comm, out, in);
  EXPECT_TRUE(exchange.wait_for(0s)) << "not active";
  for (int start = 0; start < 3; ++start) {
    in = {-1, -1};
    if (rank() == 0) {
      exchange.start();
      if (size() > 1) {
        EXPECT_FALSE(exchange.wait_for(5ms));
        EXPECT_TRUE(exchange.active());
      }
    }
    barrier(world());
    if (rank() != 0) {
      EXPECT_TRUE(exchange.try_start().ok());
    }
    EXPECT_TRUE(exchange.try_wait_for(kLong).value());
    EXPECT_THAT(in, testing::ElementsAre(next(), previous()));
  }
  exchange.start();
  const Status again = exchange.try_start();
  EXPECT_EQ(again.errc(), Errc::invalid_argument) << again.message;
  while (!exchange.try_test().value()) std::this_thread::yield();
}

TEST_F(TimedWaits, OfHalos) {
  HaloExchange halo(world(), {.grid = {size()}, .periodic = {true}, .block = {.interior = {4}, .width = {1}}});
  const std::span<double> cells = halo.field<double>();
  for (int step = 0; step < 3; ++step) {
    std::fill(cells.begin() + 1, cells.end() - 1, rank() + step * 100.0);
    if (rank() == 0) {
      EXPECT_TRUE(halo.try_start().ok());
      if (size() > 1) {
        EXPECT_FALSE(halo.finish_for(1ms));
        EXPECT_TRUE(halo.active());
      }
    }
    barrier(world());
    if (rank() != 0) halo.start();
    EXPECT_TRUE(halo.finish_for(kLong));
    EXPECT_FALSE(halo.active());
    EXPECT_EQ(halo.finish_any(), std::nullopt);
    EXPECT_EQ(cells.front(), previous() + step * 100.0);
    EXPECT_EQ(cells.back(), next() + step * 100.0);
  }
  EXPECT_TRUE(halo.try_finish().ok());
}

// Two threads wait: one leads, and the other one follows. Neither keeps the other beyond its time.
TEST_F(TimedWaits, OfAThreadThatFollowsEndInTime) {
  int first = -1;
  int second = -1;
  Request leading = irecv(world(), first, {previous(), Tag{1}});
  Request following = irecv(world(), second, {previous(), Tag{2}});
  std::thread leader([&leading] { leading.wait(); });
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(following.wait_for(3ms));
  const Communicator other = world().duplicate();
  barrier(other);
  const int out = rank();
  send(world(), out, {next(), Tag{1}});
  leader.join();
  EXPECT_FALSE(following.wait_for(3ms));
  barrier(other);
  send(world(), out, {next(), Tag{2}});
  EXPECT_TRUE(following.wait_for(kLong));
  EXPECT_EQ(first, previous());
  EXPECT_EQ(second, previous());
}

}  // namespace
}  // namespace fab
