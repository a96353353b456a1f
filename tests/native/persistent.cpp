// Persistent exchanges under mpirun, without MPI in the process.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/head_start.h"
#include "support/sanitizers.h"

namespace fab {
namespace {

using namespace std::chrono_literals;

using PersistentTest = test::OnAllRanks;

/// Where the processor is emulated, too, time is short.
bool in_a_hurry() { return std::getenv("FAB_TEST_SHORT") != nullptr; }

int many_iterations(int ranks) {
  if (test::kSanitized) return 10'000;
  const char* local = std::getenv("FAB_LOCAL");
  const bool over_network = local != nullptr && std::string_view(local) == "off";
  if (over_network) return ranks <= 2 ? 20'000 : 4'000;
  return ranks <= 2 ? 1'000'000 : 50'000;
}

double value(int sender, int exchange, int iteration, std::size_t element) {
  return sender * 1e9 + exchange * 1e8 + iteration * 1e4 + static_cast<double>(element % 1000);
}

/// Blocks of one ring exchange, the same in both directions.
struct Ring {
  Ring(const Communicator& comm, int its_number, std::size_t elements)
      : number(its_number),
        send(2 * elements),
        recv(2 * elements),
        exchange(
            neighbor_xchg.persistent(comm, send.data(), recv.data(), Layout::contiguous(elements * sizeof(double)))) {}

  void fill(int sender, int iteration) {
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = value(sender, number, iteration, i % (send.size() / 2));
    std::ranges::fill(recv, -1);
  }
  [[nodiscard]] bool came_from(int next, int previous, int iteration) const {
    const std::size_t elements = recv.size() / 2;
    for (std::size_t i = 0; i < recv.size(); ++i)
      if (recv[i] != value(i < elements ? next : previous, number, iteration, i % elements)) return false;
    return true;
  }

  int number;
  std::vector<double> send;
  std::vector<double> recv;
  PersistentExchange exchange;
};

TEST_F(PersistentTest, TheyMeetInAnyOrderOfTheirStarts) {
  constexpr std::array<std::size_t, 5> kElements = {1, 20, 500, 5000, 60'000};
  const Communicator comm = ring();
  std::vector<Ring> rings;
  rings.reserve(kElements.size());
  for (const std::size_t elements : kElements) rings.emplace_back(comm, static_cast<int>(rings.size()), elements);
  std::vector<std::size_t> order(rings.size());
  std::iota(order.begin(), order.end(), 0);
  const int iterations = in_a_hurry() ? 8 : 40;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (Ring& each : rings) each.fill(rank(), iteration);
    std::rotate(order.begin(), order.begin() + 1 + rank() % 3, order.end());
    for (const std::size_t i : order) rings[i].exchange.start();
    const int mine = rank();
    int others[2] = {-1, -1};
    neighbor_xchg(comm, std::span<const int>(std::array{mine, mine}), others);
    EXPECT_THAT(others, testing::ElementsAre(next(), previous()));
    std::ranges::reverse(order);
    for (const std::size_t i : order) rings[i].exchange.wait();
    for (const Ring& each : rings)
      ASSERT_TRUE(each.came_from(next(), previous(), iteration)) << "exchange " << each.number << ", " << iteration;
  }
}

/// Rings on two communicators, and their exchanges in a row.
struct Several {
  Several(const Communicator& a, const Communicator& b) {
    rings.reserve(4);
    for (int i = 0; i < 4; ++i) exchanges.push_back(std::move(rings.emplace_back(i < 2 ? a : b, i, 100).exchange));
  }
  void fill(int sender, int iteration) {
    for (Ring& each : rings) each.fill(sender, iteration);
  }
  void expect_from(int next, int previous, int iteration) const {
    for (const Ring& each : rings) EXPECT_TRUE(each.came_from(next, previous, iteration)) << each.number;
  }

  std::vector<Ring> rings;
  std::vector<PersistentExchange> exchanges;
};

TEST_F(PersistentTest, SeveralStartInOneCall) {
  Several several(ring(), ring());
  for (int iteration = 0; iteration < 10; ++iteration) {
    several.fill(rank(), iteration);
    PersistentExchange::start_all(several.exchanges);
    PersistentExchange::wait_all(several.exchanges);
    several.expect_from(next(), previous(), iteration);
  }
}

TEST_F(PersistentTest, OfSeveralNoneStartsWhereOneCannot) {
  Several several(ring(), ring());
  auto& exchanges = several.exchanges;
  const auto expect_refused = [&exchanges](const char* why) {
    try {
      PersistentExchange::start_all(exchanges);
      ADD_FAILURE() << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.errc(), Errc::invalid_argument);
      EXPECT_THAT(error.what(), testing::HasSubstr("PersistentExchange::start_all: exchanges[2] "));
      EXPECT_THAT(error.what(), testing::HasSubstr(why));
    }
    for (const std::size_t other : {0u, 1u, 3u}) EXPECT_FALSE(exchanges[other].active()) << other;
  };
  several.fill(rank(), 0);
  exchanges[2].start();
  expect_refused("was started already");
  for (const std::size_t other : {0u, 1u, 3u}) exchanges[other].start();
  PersistentExchange::wait_all(exchanges);
  several.expect_from(next(), previous(), 0);

  several.fill(rank(), 1);
  PersistentExchange third;
  std::swap(third, exchanges[2]);
  expect_refused("holds no exchange");
  std::swap(third, exchanges[2]);
  PersistentExchange::start_all(exchanges);
  PersistentExchange::wait_all(exchanges);
  several.expect_from(next(), previous(), 1);
}

TEST_F(PersistentTest, ManyIterations) {
  const int iterations = many_iterations(size());
  const Communicator comm = ring();
  Ring ring(comm, 0, 3);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    ring.fill(rank(), iteration);
    ring.exchange.start();
    ring.exchange.wait();
    ASSERT_TRUE(ring.came_from(next(), previous(), iteration)) << iteration;
  }
}

TEST_F(PersistentTest, ProgressThreadFinishesSeveral) {
  const Communicator comm = ring();
  Ring first(comm, 0, 1000);
  Ring second(comm, 1, 40'000);
  for (int iteration = 0; iteration < 5; ++iteration) {
    for (Ring* each : {&first, &second}) each->fill(rank(), iteration);
    second.exchange.start();
    first.exchange.start();
    test::give_head_start(5ms);
    while (!first.exchange.test() || !second.exchange.test()) std::this_thread::yield();
    EXPECT_TRUE(first.came_from(next(), previous(), iteration));
    EXPECT_TRUE(second.came_from(next(), previous(), iteration));
  }
}

// Nothing comes back, so the sender may be many starts ahead of the receiver.
TEST_F(PersistentTest, ASenderThatRunsAheadIsReceivedInOrder) {
  if (size() < 2) GTEST_SKIP() << "needs a receiver";
  for (const std::size_t elements : {std::size_t{2}, std::size_t{5000}, std::size_t{30'000}}) {
    std::vector<int> sources;
    std::vector<int> destinations;
    if (rank() == 0) destinations = {1};
    if (rank() == 1) sources = {0};
    const Communicator line = world().distributed_graph(sources, destinations);
    std::vector<double> data(elements, -1);
    PersistentExchange exchange =
        neighbor_xchg.persistent(line, data.data(), data.data(), Layout::contiguous(elements * sizeof(double)));
    if (rank() == 1) test::give_head_start(50ms);
    const int iterations = in_a_hurry() ? 100 : 500;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      if (rank() == 0) std::ranges::fill(data, iteration);
      exchange.start();
      exchange.wait();
      if (rank() < 2) {
        ASSERT_EQ(data.front(), iteration);
        ASSERT_EQ(data.back(), iteration);
      }
    }
  }
}

TEST_F(PersistentTest, FacesAndShiftsAndInPlace) {
  constexpr std::size_t n = 30;
  const Communicator comm = ring();
  const auto face = [](std::size_t x) {
    const std::array<std::size_t, 2> sizes{n, n};
    const std::array<std::size_t, 2> part{n, 1};
    const std::array<std::size_t, 2> begin{0, x};
    return Layout::subarray(sizes, part, begin, Layout::contiguous(sizeof(double)));
  };
  std::vector<double> plane(n * n);
  const std::vector<BlockShape> out = {{0, face(n - 2)}, {0, face(1)}};
  const std::vector<BlockShape> in = {{0, face(n - 1)}, {0, face(0)}};
  PersistentExchange faces = neighbor_xchgv.persistent(comm, plane.data(), out, plane.data(), in);
  double block = 0;
  PersistentExchange shift =
      cart_shift_xchg.persistent(comm, &block, Layout::contiguous(sizeof(double)), Shift{Dimension{0}, 1});
  std::array<double, 2> pair{};
  PersistentExchange swap = neighbor_xchg.persistent(comm, pair.data(), Layout::contiguous(sizeof(double)));
  for (int iteration = 0; iteration < 20; ++iteration) {
    for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = value(rank(), 0, iteration, i);
    block = pair[0] = pair[1] = value(rank(), 1, iteration, 0);
    std::array<PersistentExchange*, 3> all = {&faces, &shift, &swap};
    for (PersistentExchange* each : all) each->start();
    for (PersistentExchange* each : all) each->wait();
    for (std::size_t y = 0; y < n; ++y) {
      EXPECT_EQ(plane[y * n + n - 1], value(next(), 0, iteration, y * n + 1));
      EXPECT_EQ(plane[y * n], value(previous(), 0, iteration, y * n + n - 2));
    }
    EXPECT_EQ(block, value(previous(), 1, iteration, 0));
    EXPECT_THAT(pair, testing::ElementsAre(value(next(), 1, iteration, 0), value(previous(), 1, iteration, 0)));
  }
}

TEST_F(PersistentTest, BlocksMayBeWaitedForOneByOne) {
  const Communicator comm = ring();
  for (const std::size_t elements : {std::size_t{1}, std::size_t{700}, std::size_t{60'000}}) {
    Ring ring(comm, 0, elements);
    const auto has_come = [&](std::size_t source, int iteration) {
      const auto block = std::span(ring.recv).subspan(source * elements, elements);
      const int sender = source == 0 ? next() : previous();
      for (std::size_t i = 0; i < elements; ++i)
        if (block[i] != value(sender, 0, iteration, i)) return false;
      return true;
    };
    for (int iteration = 0; iteration < 30; ++iteration) {
      ring.fill(rank(), iteration);
      ring.exchange.start();
      if (iteration % 6 == 5) test::give_head_start(2ms);
      const std::array<std::size_t, 2> sources = {1, 0};
      std::size_t first = static_cast<std::size_t>(iteration % 2);
      if (iteration % 3 == 0)
        ring.exchange.wait_source(first);
      else if (iteration % 3 == 1)
        while (!ring.exchange.test_source(first)) std::this_thread::yield();
      else
        first = sources.at(ring.exchange.wait_any_source(sources));
      EXPECT_TRUE(has_come(first, iteration)) << iteration;
      EXPECT_TRUE(ring.exchange.active());
      const std::size_t last = 1 - first;
      ring.exchange.wait_source(last);
      EXPECT_TRUE(has_come(last, iteration)) << iteration;
      ring.exchange.wait();
      ring.exchange.wait_source(last);  // not active
    }
  }
}

// Rank 0 starts when rank 1 has told it that the block of the rank after it came, so rank 1 must not wait for rank 0.
TEST_F(PersistentTest, ABlockThatCameDoesNotWaitForALateNeighbour) {
  if (size() < 3) GTEST_SKIP() << "needs two neighbours";
  std::vector<int> sources;
  std::vector<int> destinations;
  if (rank() == 0) sources = {1};
  if (rank() == 1) destinations = {0};
  const Communicator line = world().distributed_graph(sources, destinations);
  const Communicator comm = ring();
  for (const std::size_t elements : {std::size_t{5}, std::size_t{40'000}}) {
    Ring ring(comm, 0, elements);
    for (int iteration = 0; iteration < 10; ++iteration) {
      int word = 0;
      ring.fill(rank(), iteration);
      if (rank() == 0) neighbor_xchg(line, &word, &word, Layout::contiguous(sizeof(word)));
      ring.exchange.start();
      if (rank() == 1) {
        if (iteration % 2 == 0) ring.exchange.wait_source(0);
        if (iteration % 2 == 1) {
          EXPECT_EQ(ring.exchange.wait_any_source(std::array<std::size_t, 2>{1, 0}), 1u);
        }
        EXPECT_EQ(ring.recv.front(), value(2, 0, iteration, 0));
        EXPECT_EQ(ring.recv.at(elements - 1), value(2, 0, iteration, elements - 1));
        EXPECT_FALSE(ring.exchange.test_source(1));
        neighbor_xchg(line, &word, &word, Layout::contiguous(sizeof(word)));
      }
      ring.exchange.wait();
      EXPECT_TRUE(ring.came_from(next(), previous(), iteration));
    }
  }
}

TEST_F(PersistentTest, MisuseIsTold) {
  const Communicator comm = ring();
  Ring ring(comm, 0, 10);
  ring.exchange.wait();
  EXPECT_TRUE(ring.exchange.test());
  EXPECT_FALSE(ring.exchange.active());
  ring.fill(rank(), 1);
  ring.exchange.start();
  EXPECT_TRUE(ring.exchange.active());
  try {
    ring.exchange.start();
    ADD_FAILURE() << "started twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr("neighbor_xchg: started again"));
  }
  ring.exchange.wait();
  EXPECT_TRUE(ring.came_from(next(), previous(), 1));
  EXPECT_THROW(ring.exchange.wait_source(2), Error);
  EXPECT_THROW(static_cast<void>(ring.exchange.test_source(2)), Error);
  EXPECT_THROW(static_cast<void>(ring.exchange.wait_any_source({})), Error);
  PersistentExchange none;
  EXPECT_FALSE(none.active());
  EXPECT_THROW(none.start(), Error);
  EXPECT_THROW(static_cast<void>(neighbor_xchg.persistent(world(), nullptr, nullptr, Layout::contiguous(8))), Error);
}

TEST_F(PersistentTest, OutlivesTheHandleOfItsCommunicator) {
  auto comm = std::make_unique<Communicator>(ring());
  Ring ring(*comm, 0, 100);
  comm.reset();
  ring.fill(rank(), 7);
  ring.exchange.start();
  PersistentExchange moved = std::move(ring.exchange);
  moved.wait();
  EXPECT_TRUE(ring.came_from(next(), previous(), 7));
}

}  // namespace
}  // namespace fab
