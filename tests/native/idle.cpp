// What a context uses that has nothing to do: nothing, or next to it.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <thread>

#include "fab/fab.h"

namespace fab {
namespace {

using namespace std::chrono_literals;

double cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

TEST(Idle, ContextsAndPendingReceivesUseNoProcessorTime) {
  constexpr double kShareOfProcessor = 0.001;
  constexpr double kSeconds = 0.8;
  const Context context = Context::open();
  const int rank = context.rank();
  const Communicator grid = *context.world().cartesian({context.size()}, {true});
  const std::array<int, 2> out{rank, rank};
  std::array<int, 2> in{-1, -1};
  neighbor_xchg(grid, std::span<const int>(out), std::span<int>(in));
  Request request;
  // Odd ranks come late, so that even ranks have a receive pending meanwhile.
  if (rank % 2 == 0) request = ineighbor_xchg(grid, std::span<const int>(out), std::span<int>(in));
  std::this_thread::sleep_for(100ms);
  // What a virtual machine is robbed of while one of its processes runs counts as that process's time, as do the caches
  // that others have emptied, so the quietest spell is next to the truth. What a context does, it does in all of them.
  std::array<double, 5> shares{};
  for (double& share : shares) {
    const double before = cpu_s();
    std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
    share = (cpu_s() - before) / kSeconds;
  }
  const double used = std::ranges::min(shares);
  std::this_thread::sleep_for(200ms);
  if (rank % 2 != 0) request = ineighbor_xchg(grid, std::span<const int>(out), std::span<int>(in));
  request.wait();
  RecordProperty("processor_share", std::to_string(used));
  EXPECT_LT(used, kShareOfProcessor) << "of a processor";
  EXPECT_EQ(in[0], (rank + 1) % context.size());
}

}  // namespace
}  // namespace fab
