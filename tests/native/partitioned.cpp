// Partitioned exchanges under mpirun: threads mark the parts of blocks, and wait for them, in any order.
#include "fab/partitioned.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "unit/support/allocation_count.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using testing::HasSubstr;

constexpr std::size_t kSides = 2;
constexpr std::size_t kGroupValues = 16 * 1024 / sizeof(int);  // parts of so many are sent alone

/// Blocks of a ring: block 0 goes to the next rank and comes from there, block 1 likewise with the previous one.
class PartedRing {
 public:
  PartedRing(const Communicator& ring, std::size_t parts, std::size_t values)
      : parts_(parts),
        values_(values),
        send_(kSides * parts * values),
        recv_(send_.size()),
        exchange_(neighbor_xchg.partitioned(ring, parts, send_, recv_)) {}

  [[nodiscard]] PartitionedExchange& exchange() { return exchange_; }
  [[nodiscard]] std::size_t parts() const { return parts_; }

  void start() {
    std::ranges::fill(recv_, -1);
    exchange_.start();
  }
  void write_and_mark(std::size_t side, std::size_t part, int sender, int start) {
    write(side, part, sender, start);
    exchange_.ready(side, part);
  }
  void write(std::size_t side, std::size_t part, int sender, int start) {
    std::ranges::fill(part_of(send_, side, part), value(side, part, sender, start));
  }
  /// Whether the part from that rank has come whole.
  [[nodiscard]] bool came(std::size_t side, std::size_t part, int from, int start) {
    const auto values = part_of(recv_, side, part);
    return std::ranges::count(values, value(kSides - 1 - side, part, from, start)) ==
           static_cast<std::ptrdiff_t>(values.size());
  }

 private:
  static int value(std::size_t side, std::size_t part, int sender, int start) {
    return static_cast<int>(side) + 2 * static_cast<int>(part) + 1000 * sender + 100'000 * start;
  }
  std::span<int> part_of(std::vector<int>& blocks, std::size_t side, std::size_t part) const {
    return std::span(blocks).subspan((side * parts_ + part) * values_, values_);
  }

  std::size_t parts_;
  std::size_t values_;
  std::vector<int> send_;
  std::vector<int> recv_;
  PartitionedExchange exchange_;
};

class PartitionedTest : public test::OnAllRanks {
 protected:
  static int from(std::size_t side) { return side == 0 ? next() : previous(); }
  /// All ranks have come here.
  static void meet() { barrier(world()); }
};

/// All parts of a start, by threads that mark and wait in orders of their own.
void run_threads(PartedRing& ring, int threads, int self, int start, const std::array<int, kSides>& from) {
  const auto work = [&](int thread) {
    std::vector<std::size_t> own;
    for (std::size_t i = static_cast<std::size_t>(thread); i < kSides * ring.parts();
         i += static_cast<std::size_t>(threads))
      own.push_back(i);
    std::minstd_rand random(static_cast<unsigned>(1 + self + 10 * thread + 100 * start));
    std::ranges::shuffle(own, random);
    for (const std::size_t i : own) ring.write_and_mark(i % kSides, i / kSides, self, start);
    std::ranges::shuffle(own, random);
    for (const std::size_t i : own) {
      const std::size_t side = i % kSides;
      const std::size_t part = i / kSides;
      if (random() % 2 == 0)
        ring.exchange().wait_part(side, part);
      else
        while (!ring.exchange().arrived(side, part)) std::this_thread::yield();
      EXPECT_TRUE(ring.came(side, part, from[side], start)) << "side " << side << ", part " << part;
    }
  };
  std::vector<std::jthread> team;
  for (int thread = 1; thread < threads; ++thread) team.emplace_back(work, thread);
  work(0);
}

TEST_F(PartitionedTest, PartsComeWholeInAnyOrderOfThreads) {
  struct Case {
    std::size_t parts;
    std::size_t values;
  };
  constexpr std::array<Case, 6> kCases = {{{1, 5}, {7, 3}, {4, kGroupValues}, {20, 1000}, {3, 100'000}, {5, 0}}};
  const Communicator comm = ring();
  std::vector<PartedRing> rings;
  rings.reserve(kCases.size());
  for (const auto [parts, values] : kCases) rings.emplace_back(comm, parts, values);
  for (int start = 0; start < 10; ++start)
    for (PartedRing& each : rings) {
      each.start();
      run_threads(each, 1 + start % 4, rank(), start, {next(), previous()});
      each.exchange().wait();
      EXPECT_FALSE(each.exchange().active());
      EXPECT_TRUE(each.exchange().arrived(0, 0)) << "it is complete";
    }
}

TEST_F(PartitionedTest, APartComesBeforeTheOthersAreReady) {
  PartedRing ring(OnAllRanks::ring(), 4, kGroupValues);
  for (int start = 0; start < 3; ++start) {
    ring.start();
    for (std::size_t part = 0; part < ring.parts(); ++part) {
      for (std::size_t side = 0; side < kSides; ++side) ring.write_and_mark(side, part, rank(), start);
      for (std::size_t side = 0; side < kSides; ++side) {
        ring.exchange().wait_part(side, part);
        EXPECT_TRUE(ring.came(side, part, from(side), start));
      }
    }
    ring.exchange().wait();
  }
}

TEST_F(PartitionedTest, SmallPartsLeaveTogether) {
  PartedRing ring(OnAllRanks::ring(), 4, 2);
  ring.start();
  for (std::size_t part = 0; part < 3; ++part) ring.write_and_mark(0, part, rank(), 1);
  meet();
  EXPECT_FALSE(ring.exchange().arrived(1, 0)) << "the last part is missing";
  EXPECT_FALSE(ring.exchange().test());
  meet();
  ring.write_and_mark(0, 3, rank(), 1);
  for (std::size_t part = 0; part < 4; ++part) {
    ring.exchange().wait_part(1, part);
    EXPECT_TRUE(ring.came(1, part, previous(), 1));
  }
  for (std::size_t part = 0; part < 4; ++part) ring.write_and_mark(1, part, rank(), 1);
  ring.exchange().wait();
  EXPECT_TRUE(ring.came(0, 3, next(), 1));
}

TEST_F(PartitionedTest, BlocksAreWaitedForAsThoseOfAnyPersistentExchange) {
  PartedRing ring(OnAllRanks::ring(), 3, kGroupValues);
  ring.start();
  for (std::size_t part = 0; part < 3; ++part) ring.write_and_mark(1, part, rank(), 2);
  ring.exchange().wait_source(0);
  for (std::size_t part = 0; part < 3; ++part) EXPECT_TRUE(ring.came(0, part, next(), 2));
  for (std::size_t part = 0; part < 3; ++part) ring.write_and_mark(0, part, rank(), 2);
  ring.exchange().wait();
}

TEST_F(PartitionedTest, EndsOfAGridHaveNoParts) {
  const Communicator line = world().cartesian({size()}, {false});
  const Neighborhood& edges = line.neighborhood();
  const std::vector<double> send(3 * edges.destinations.size(), rank());
  std::vector<double> recv(3 * edges.sources.size(), -1);
  PartitionedExchange exchange = neighbor_xchg.partitioned(line, 3, send, recv);
  exchange.start();
  for (std::size_t part = 0; part < 3; ++part)
    for (std::size_t i = 0; i < edges.destinations.size(); ++i) exchange.ready(i, part);
  exchange.wait();
  for (std::size_t i = 0; i < recv.size(); ++i) EXPECT_EQ(recv[i], edges.sources[i / 3].peer);
}

// The columns of a matrix, whose cells do not lie side by side.
TEST_F(PartitionedTest, PartsMayBeOfAnyLayout) {
  constexpr std::size_t kRows = 5;
  constexpr std::size_t kColumns = 4;  // a part each; two for each side
  const Communicator comm = ring();
  const Layout column =
      Layout::vector(kRows, 1, kColumns * sizeof(int), Layout::contiguous(sizeof(int))).resized(0, sizeof(int));
  std::array<int, kRows * kColumns> send{};
  std::array<int, kRows * kColumns> recv{};
  PartitionedExchange exchange = neighbor_xchg.partitioned(comm, 2, send.data(), recv.data(), column);
  for (std::size_t i = 0; i < send.size(); ++i) send[i] = 100 * rank() + static_cast<int>(i);
  exchange.start();
  for (const std::size_t part : {1u, 0u})
    for (std::size_t side = 0; side < kSides; ++side) exchange.ready(side, part);
  exchange.wait();
  for (std::size_t i = 0; i < recv.size(); ++i) {
    const std::size_t its_column = i % kColumns;
    const std::size_t sent_column = (its_column + 2) % kColumns;  // the other side's
    EXPECT_EQ(recv[i], 100 * from(its_column / 2) + static_cast<int>(i - its_column + sent_column));
  }
}

TEST_F(PartitionedTest, RefusesPartsThatThereAreNot) {
  PartedRing ring(OnAllRanks::ring(), 2, 4);
  PartitionedExchange& exchange = ring.exchange();
  test::expect_error(Errc::invalid_argument, {"part 0 for destination 0 is marked ready twice, or before the start"},
                     [&] { exchange.ready(0, 0); });
  ring.start();
  test::expect_error(Errc::invalid_argument, {"destination is 2; the exchange has 2"}, [&] { exchange.ready(2, 0); });
  test::expect_error(Errc::invalid_argument, {"part is 2; the exchange has 2"}, [&] { exchange.ready(0, 2); });
  test::expect_error(Errc::invalid_argument, {"source is 5"}, [&] { exchange.wait_part(5, 0); });
  test::expect_error(Errc::invalid_argument, {"part is 9"}, [&] { static_cast<void>(exchange.arrived(0, 9)); });
  test::expect_error(Errc::invalid_argument, {"started again"}, [&] { exchange.start(); });
  exchange.ready(0, 1);
  test::expect_error(Errc::invalid_argument, {"part 1 for destination 0 is marked ready twice"},
                     [&] { exchange.ready(0, 1); });
  exchange.ready(0, 0);
  exchange.ready(1, 0);
  exchange.ready(1, 1);
  exchange.wait();
  test::expect_error(Errc::invalid_argument, {"marked ready twice"}, [&] { exchange.ready(1, 1); });
  PartitionedExchange none;
  test::expect_error(Errc::invalid_argument, {"holds no exchange"}, [&] { none.ready(0, 0); });
}

TEST_F(PartitionedTest, RefusesSizesThatDoNotFit) {
  const Communicator comm = ring();
  std::array<int, 8> send{};
  std::array<int, 8> recv{};
  const auto make = [&](const Communicator& on, std::size_t parts) {
    static_cast<void>(neighbor_xchg.partitioned(on, parts, send, recv));
  };
  test::expect_error(Errc::invalid_count, {"valid is a multiple of 6, 3 parts for each of 2 neighbours"},
                     [&] { make(comm, 3); });
  test::expect_error(Errc::invalid_argument, {"0 parts"}, [&] { make(comm, 0); });
  test::expect_error(Errc::invalid_topology, {"no topology"}, [&] {
    std::array<int, 0> none{};
    static_cast<void>(neighbor_xchg.partitioned(world(), 1, none, none));
  });
}

// Both ends learn of it when they make the exchange, and none waits.
TEST_F(PartitionedTest, RefusesEdgesWhoseEndsDisagree) {
  if (size() % 2 != 0) GTEST_SKIP() << "neighbours of a ring of odd length cannot all differ";
  const Communicator comm = ring();
  std::vector<int> send(16);
  std::vector<int> recv(16);
  const std::size_t parts = rank() % 2 == 0 ? 2 : 4;
  const std::string own_parts = "32 bytes in " + std::to_string(parts) + " parts";
  test::expect_error(Errc::mismatch, {own_parts.c_str()},
                     [&] { static_cast<void>(neighbor_xchg.partitioned(comm, parts, send, recv)); });
  if (rank() % 2 == 0) send.resize(32), recv.resize(32);
  test::expect_error(Errc::mismatch, {"must agree"},
                     [&] { static_cast<void>(neighbor_xchg.partitioned(comm, 2, send, recv)); });
  PartedRing ring(comm, 2, 4);
  ring.start();
  run_threads(ring, 2, rank(), 0, {next(), previous()});
  ring.exchange().wait();
}

// A rank that waits for parts of an exchange that was given up gets an error, and other exchanges go on.
TEST_F(PartitionedTest, GivesUpPartsThatAreNeverReady) {
  const Communicator comm = ring();
  PartedRing later(comm, 2, kGroupValues);
  {
    PartedRing ring(comm, 4, kGroupValues);
    ring.start();
    ring.write_and_mark(0, 0, rank(), 0);
    ring.write_and_mark(0, 1, rank(), 0);
    ring.exchange().wait_part(1, 1);
    meet();
    if (rank() % 2 == 1) {
      ring.write_and_mark(0, 2, rank(), 0);
      ring.write_and_mark(0, 3, rank(), 0);
      try {
        ring.exchange().wait();
        ADD_FAILURE() << "the neighbours give up";
      } catch (const Error& error) {
        // What is written into this rank's memory cannot bring the news: then this rank asks.
        EXPECT_THAT(error.errc(), testing::AnyOf(Errc::cancelled, Errc::mismatch)) << error.what();
      }
      EXPECT_NO_THROW(ring.exchange().ready(1, 3)) << "too late, and no fault of the caller's";
    }
  }
  later.start();
  run_threads(later, 2, rank(), 1, {next(), previous()});
  later.exchange().wait();
}

TEST_F(PartitionedTest, AllocatesNothing) {
  PartedRing ring(OnAllRanks::ring(), 6, kGroupValues);
  const auto start = [&] {
    ring.start();
    for (std::size_t part = 0; part < ring.parts(); ++part)
      for (std::size_t side = 0; side < kSides; ++side) ring.write_and_mark(side, part, rank(), 1);
    for (std::size_t part = 0; part < ring.parts(); ++part) ring.exchange().wait_part(part % kSides, part);
    while (!ring.exchange().arrived(1, 0)) std::this_thread::yield();
    ring.exchange().wait();
  };
  start();
  EXPECT_EQ(test::fewest_allocations(start), 0u);
}

}  // namespace
}  // namespace fab
