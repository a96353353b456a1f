// A context that has nothing to do sleeps: how often its process wakes is counted, which a busy machine does not
// change. fab_perf footprint measures the processor time.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "fab/fab.h"
#include "support/asleep.h"

namespace fab {
namespace {

using namespace std::chrono_literals;

/// Whether every other thread of this process is asleep.
bool others_sleep() {
  const std::string self = std::to_string(::gettid());
  return std::ranges::all_of(std::filesystem::directory_iterator("/proc/self/task"), [&](const auto& entry) {
    const std::string thread = entry.path().filename();
    return thread == self || test::is_asleep(std::stoi(thread));
  });
}

/// How often threads of this process have gone to sleep of themselves.
long sleeps() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_nvcsw;
}

TEST(Idle, ContextsAndPendingReceivesSleep) {
  constexpr auto kBetweenLooks = 50ms;
  constexpr int kLooks = 20;
  constexpr long kMostWakeUps = 40;  // for each of them takes some 10 us, 0.1 % of a processor would be 100
  const Context context = Context::open();
  const int rank = context.rank();
  const Communicator grid = context.world().cartesian({context.size()}, {true});
  const std::array<int, 2> out{rank, rank};
  std::array<int, 2> in{-1, -1};
  neighbor_xchg(grid, out, in);
  Request request;
  // Odd ranks come late, so that even ranks have a receive pending meanwhile.
  if (rank % 2 == 0) request = neighbor_xchg.start(grid, out, in);
  std::this_thread::sleep_for(100ms);  // the connections are there, and the thread has found its pace
  long fewest = std::numeric_limits<long>::max();
  int asleep = 0;
  for (int spell = 0; spell < 4; ++spell) {
    const long before = sleeps();
    for (int look = 0; look < kLooks; ++look) {
      std::this_thread::sleep_for(kBetweenLooks);
      if (others_sleep()) ++asleep;
    }
    fewest = std::min(fewest, sleeps() - before - kLooks);
  }
  if (rank % 2 != 0) request = neighbor_xchg.start(grid, out, in);
  request.wait();
  RecordProperty("wake_ups_per_second", static_cast<int>(fewest));
  EXPECT_LE(fewest, kMostWakeUps) << "in " << kLooks << " times " << kBetweenLooks.count() << " ms";
  EXPECT_GE(asleep, 2 * kLooks) << "of " << 4 * kLooks << " looks";
  EXPECT_EQ(in[0], (rank + 1) % context.size());
}

}  // namespace
}  // namespace fab
