// The hash by which calls, shapes and lists are told apart.
#include "core/base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace fab::test {
namespace {

using core::hash_of;
using core::hash_with;

static_assert(hash_of("bcast") != hash_of("barrier"));
static_assert(hash_with(hash_with(2, 1), 0) != hash_with(hash_with(2, 0), 1));

// Both ends are used: tables take the low bits, tags and words of calls the high ones.
TEST(Hash, OfSmallNumbersDiffersAtBothEnds) {
  std::set<std::uint64_t> low;
  std::set<std::uint64_t> high;
  constexpr std::uint64_t kNumbers = 4096;
  for (std::uint64_t number = 0; number < kNumbers; ++number) {
    low.insert(hash_of(number << 6) & 0xffffffff);
    high.insert(hash_of(number << 6) >> 32);
  }
  EXPECT_EQ(low.size(), kNumbers);
  EXPECT_EQ(high.size(), kNumbers);
}

TEST(Hash, OfListsDiffersByOrderAndLength) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t a = 0; a < 64; ++a)
    for (std::uint64_t b = 0; b < 64; ++b) hashes.insert(hash_with(hash_with(2, a), b));
  EXPECT_EQ(hashes.size(), 64u * 64u);
  EXPECT_NE(hash_of(std::string_view("\0", 1)), hash_of(""));
}

}  // namespace
}  // namespace fab::test
