// The ways of messages within a node by other lengths than the built-in ones.
#include <gtest/gtest.h>

#include "providers/local/thresholds.h"
#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

constexpr LocalLengths kLengths{.program = {.unknown = 3000, .changing = 5000, .constant = 1000},
                                .fab = {.unknown = 2000, .changing = 4000, .constant = 500}};

TEST(LocalLengths, HoldWhereNoVariableForcesAWay) {
  EXPECT_EQ(local::longest_copied(LocalLong::automatic, kLengths), kLengths.program);
  EXPECT_EQ(local::longest_copied_of_mapped(LocalLong::automatic, kLengths), kLengths.fab);
  for (const LocalLong forced : {LocalLong::read, LocalLong::ring})
    EXPECT_EQ(local::longest_copied(forced, kLengths), local::longest_copied(forced));
  EXPECT_EQ(local::longest_copied_of_mapped(LocalLong::map, kLengths), local::longest_copied_of_mapped(LocalLong::map));
}

TEST(LocalLengths, DecideWhatAProviderPromisesAndWhichWayItTakes) {
  const auto job = [](Rank rank) {
    JobInfo info;
    info.rank = rank;
    info.size = info.local_size = 2;
    info.node_ranks = {0, 1};
    return info;
  };
  const Log log(LogLevel::warn, 0);
  local::LocalProvider left(LocalLong::automatic, job(0), log, kLengths);
  const local::LocalProvider right(LocalLong::automatic, job(1), log, kLengths);
  EXPECT_EQ(left.capabilities().inject_bytes, 2000u);
  EXPECT_EQ(left.capabilities().detached_bytes, 500u);
  const PeerHandle to_right = left.connect(right.address());
  std::vector<std::byte> program(3001);
  MappedResource mapped;
  std::pmr::vector<std::byte> fabs(2001, &mapped);
  const auto way = [&](auto& memory, std::size_t bytes) {
    const iovec piece{memory.data(), bytes};
    return left.way_of(to_right, {&piece, 1});
  };
  EXPECT_EQ(way(program, 3000), "ring");
  EXPECT_EQ(way(program, 3001), "kernel");
  EXPECT_EQ(way(fabs, 2000), "ring");
  EXPECT_EQ(way(fabs, 2001), "mapped");
}

}  // namespace
}  // namespace fab::test
