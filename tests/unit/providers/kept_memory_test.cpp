#include "providers/ofi/kept_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace fab::ofi {
namespace {

iovec piece(std::uintptr_t begin, std::size_t bytes) {
  return {reinterpret_cast<void*>(begin), bytes};  // never dereferenced
}

/// Stands for a region; never dereferenced either.
std::shared_ptr<fid_mr> region(std::uintptr_t number) {
  return {std::make_shared<int>(), reinterpret_cast<fid_mr*>(number)};
}
std::uintptr_t number_of(const std::shared_ptr<fid_mr>& its) { return reinterpret_cast<std::uintptr_t>(its.get()); }

TEST(KeptMemory, FindsWhatARegionCovers) {
  KeptMemory kept;
  kept.add(piece(1000, 100), 1, region(7));
  EXPECT_EQ(number_of(kept.find(piece(1000, 100), 1)), 7u);
  EXPECT_EQ(number_of(kept.find(piece(1050, 50), 1)), 7u);
  EXPECT_EQ(kept.find(piece(1050, 51), 1), nullptr) << "beyond its end";
  EXPECT_EQ(kept.find(piece(999, 10), 1), nullptr) << "ahead of its begin";
  EXPECT_EQ(kept.find(piece(1000, 100), 2), nullptr) << "for something else";
  kept.remove(region(7).get());
  EXPECT_EQ(kept.find(piece(1000, 100), 1), nullptr) << "gone";
  kept.remove(region(7).get());
}

TEST(KeptMemory, RegionsThatOverlapEndOneByOne) {
  KeptMemory kept;
  kept.add(piece(1000, 1000), 1, region(1));
  kept.add(piece(1500, 100), 1, region(2));
  kept.add(piece(1500, 100), 3, region(3));
  EXPECT_EQ(number_of(kept.find(piece(1700, 10), 1)), 1u) << "behind shorter ones that begin later";
  EXPECT_EQ(number_of(kept.find(piece(1500, 100), 2)), 3u);
  kept.remove(region(1).get());
  EXPECT_EQ(kept.find(piece(1700, 10), 1), nullptr);
  EXPECT_NE(kept.find(piece(1500, 100), 1), nullptr);
  kept.remove(region(3).get());
  EXPECT_EQ(number_of(kept.find(piece(1500, 100), 1)), 2u);
  EXPECT_EQ(kept.find(piece(1500, 100), 2), nullptr);
}

TEST(KeptMemory, AShareOutlivesTheEntry) {
  KeptMemory kept;
  std::shared_ptr<fid_mr> its = region(1);
  const std::weak_ptr<fid_mr> watch = its;
  kept.add(piece(1000, 10), 1, std::move(its));
  std::shared_ptr<fid_mr> in_use = kept.find(piece(1000, 10), 1);
  kept.remove(in_use.get());
  EXPECT_FALSE(watch.expired());
  in_use.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(KeptMemory, IsBounded) {
  KeptMemory kept;
  for (std::size_t i = 0; i < KeptMemory::kMost; ++i) {
    ASSERT_FALSE(kept.full());
    kept.add(piece(10'000 * (i + 1), 10), 1, region(i + 1));
  }
  EXPECT_TRUE(kept.full());
  kept.remove(region(1).get());
  EXPECT_FALSE(kept.full());
}

// Against a look at each region.
TEST(KeptMemory, FindsARegionWheneverThereIsOne) {
  std::mt19937 random(5);
  const auto below = [&random](unsigned bound) { return random() % bound; };
  for (int round = 0; round < 50; ++round) {
    KeptMemory kept;
    std::vector<iovec> regions;
    for (unsigned i = 0; i < 20; ++i) {
      regions.push_back(piece(1 + below(1000), 1 + below(i % 5 == 0 ? 500 : 20)));
      kept.add(regions.back(), 1, region(i + 1));
    }
    for (int look = 0; look < 200; ++look) {
      const iovec wanted = piece(1 + below(1000), 1 + below(30));
      const auto covers = [&wanted](const iovec& memory) {
        const auto begin = reinterpret_cast<std::uintptr_t>(memory.iov_base);
        const auto first = reinterpret_cast<std::uintptr_t>(wanted.iov_base);
        return begin <= first && first + wanted.iov_len <= begin + memory.iov_len;
      };
      const std::uintptr_t found = number_of(kept.find(wanted, 1));
      EXPECT_EQ(found != 0, std::ranges::any_of(regions, covers));
      if (found != 0) {
        EXPECT_TRUE(covers(regions[found - 1]));
      }
    }
  }
}

TEST(KeptMemory, PiecesOfOnePageAreOneRegion) {
  constexpr std::size_t kPage = 4096;
  const std::vector<iovec> pieces{
      piece(10 * kPage + 100, 50),          piece(10, 0),        piece(12 * kPage + 8, 8), piece(10 * kPage, 10),
      piece(10 * kPage + 120, kPage - 120), piece(20 * kPage, 1)};
  const std::vector<iovec> regions = joined(pieces, kPage);
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[0].iov_base, pieces[3].iov_base);
  EXPECT_EQ(regions[0].iov_len, kPage);
  EXPECT_EQ(regions[1].iov_base, pieces[2].iov_base) << "a page lies between, which may not be mapped";
  EXPECT_EQ(regions[2].iov_len, 1u);
  EXPECT_TRUE(joined({}, kPage).empty());
}

}  // namespace
}  // namespace fab::ofi
