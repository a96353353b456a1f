#include "core/progress/crowding.h"

#include <gtest/gtest.h>

namespace fab::test {
namespace {

using core::Crowding;
using Time = Crowding::Time;

constexpr Time kOneMicrosecond = 1000;
constexpr Time kSecond = 1'000'000'000;

TEST(Crowding, IsNoneWhereTheProcessorComesBackSoon) {
  Crowding crowding;
  for (Time now = 0; now < kSecond; now += 100 * kOneMicrosecond) {
    crowding.offered(now, now + 50 * kOneMicrosecond);
    EXPECT_FALSE(crowding.is_crowded(now + 50 * kOneMicrosecond));
  }
}

TEST(Crowding, LastsForAWhileAfterAnOfferThatWasTaken) {
  Crowding crowding;
  const Time back = 3000 * kOneMicrosecond;
  crowding.offered(0, back);
  EXPECT_TRUE(crowding.is_crowded(back));
  EXPECT_TRUE(crowding.is_crowded(back + Crowding::kFirstPause - 1));
  EXPECT_FALSE(crowding.is_crowded(back + Crowding::kFirstPause));
}

// A process that goes on for a minute takes an offer a few times, for some ms each.
TEST(Crowding, IsTriedMoreAndMoreRarely) {
  Crowding crowding;
  int taken = 0;
  for (Time now = 0; now < 60 * kSecond; now += kOneMicrosecond * 100) {
    if (crowding.is_crowded(now)) continue;
    ++taken;
    crowding.offered(now, now + 2000 * kOneMicrosecond);
  }
  EXPECT_GE(taken, 7);
  EXPECT_LE(taken, 13);
}

TEST(Crowding, IsForgottenOnceTheProcessorComesBackSoonForAsLong) {
  Crowding crowding;
  Time now = 0;
  for (int i = 0; i < 20; ++i) {
    crowding.offered(now, now + 1000 * kOneMicrosecond);
    now += Crowding::kLongestPause + kSecond;
  }
  for (const Time end = now + 3 * Crowding::kLongestPause; now < end; now += 10'000 * kOneMicrosecond)
    crowding.offered(now, now + kOneMicrosecond);
  crowding.offered(now, now + 1000 * kOneMicrosecond);
  EXPECT_FALSE(crowding.is_crowded(now + 1000 * kOneMicrosecond + Crowding::kFirstPause));
}

}  // namespace
}  // namespace fab::test
