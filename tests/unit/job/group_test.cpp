#include "core/job/group.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace fab::core {
namespace {

void expect_ranks(const Group& group, const std::vector<Rank>& expected) {
  ASSERT_EQ(group.size(), static_cast<int>(expected.size()));
  for (int i = 0; i < group.size(); ++i) EXPECT_EQ(group.world_rank(i), expected[static_cast<std::size_t>(i)]) << i;
}

TEST(Group, Range) { expect_ranks(Group::range(3, 4), {3, 4, 5, 6}); }

TEST(Group, Lists) {
  for (const std::vector<Rank>& ranks :
       {std::vector<Rank>{}, {7}, {0, 1, 2}, {2, 1, 0}, {0, 2, 4, 5, 6, 9}, {5, 5, 5}, {9, 0, 8, 1, 7}, {0, 10, 11}})
    expect_ranks(Group::of(ranks), ranks);
}

TEST(Group, AnyOrder) {
  std::mt19937 random(3);
  for (int size : {2, 5, 64, 1000}) {
    std::vector<Rank> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), random);
    expect_ranks(Group::of(ranks), ranks);
  }
}

TEST(Group, Computed) {
  expect_ranks(Group::computed(3, [](Rank rank) { return 100 - rank; }), {100, 99, 98});
}

}  // namespace
}  // namespace fab::core
