// The engine's mutex among threads that spin, and among some that may not.
#include "core/progress/engine_mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "support/comes_true.h"

namespace fab::test {
namespace {

class EngineMutex : public testing::TestWithParam<int> {
 protected:
  core::EngineMutex mutex_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(SpinningThreads, EngineMutex, testing::Values(0, 1, 2, 8));

TEST_P(EngineMutex, OneThreadAtATimeHoldsIt) {
  constexpr int kThreads = 4;
  constexpr int kHolds = 20'000;
  int holds = 0;  // no atomic: the mutex guards it
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < kHolds; ++k) {
        {
          const std::lock_guard lock(mutex_);
          ++holds;
        }
        mutex_.give_way();
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(holds, kThreads * kHolds);
  EXPECT_FALSE(mutex_.is_wanted());
}

TEST_P(EngineMutex, TellsWhetherAThreadWaits) {
  mutex_.lock();
  EXPECT_FALSE(mutex_.is_wanted());
  std::thread other([&] { const std::lock_guard lock(mutex_); });
  EXPECT_TRUE(comes_true([&] { return mutex_.is_wanted(); }));
  mutex_.unlock();
  other.join();
  EXPECT_FALSE(mutex_.is_wanted());
}

}  // namespace
}  // namespace fab::test
