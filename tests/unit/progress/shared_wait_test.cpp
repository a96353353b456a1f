#include "core/progress/shared_wait.h"

#include <gtest/gtest.h>

namespace fab::test {
namespace {

using core::SharedWait;
using Time = SharedWait::Time;

constexpr Time kMicrosecond = 1000;
constexpr Time kMillisecond = 1000 * kMicrosecond;
constexpr Time kLongest = 10 * kMillisecond;

/// How long it goes on if each offer takes so long.
Time lasts(SharedWait& wait, Time start, Time offer, Time longest) {
  wait.begin(start);
  Time now = start;
  while (wait.goes_on(now, longest)) now += offer;
  return now - start;
}

TEST(SharedWait, GoesOnWhileOthersGiveTheProcessorBack) {
  SharedWait wait;
  EXPECT_EQ(lasts(wait, 0, 10 * kMicrosecond, kLongest), kLongest);
}

TEST(SharedWait, EndsSoonOnceAnotherRankHasKeptTheProcessor) {
  SharedWait wait;
  EXPECT_EQ(lasts(wait, 0, 3 * kMillisecond, kLongest), 3 * kMillisecond);
  wait.begin(kMillisecond);
  EXPECT_TRUE(wait.goes_on(kMillisecond, kLongest));
  const Time back = 2 * kMillisecond;
  EXPECT_FALSE(wait.goes_on(back, kLongest));
  EXPECT_FALSE(wait.goes_on(back + kMicrosecond, kLongest)) << "that the next offer came back soon changes nothing";
  EXPECT_EQ(lasts(wait, back, 10 * kMicrosecond, kLongest), kLongest) << "the next wait begins anew";
}

TEST(SharedWait, HasAFewTurnsHoweverShortWaitsAreToBe) {
  SharedWait wait;
  EXPECT_EQ(lasts(wait, 5, 10 * kMicrosecond, 0), SharedWait::kFew);
}

}  // namespace
}  // namespace fab::test
