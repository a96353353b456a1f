// Callers that wait drive: one leads and polls, the others follow, each rank in a thread of its own or several threads
// of a rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "core/run/wait.h"
#include "support/comes_true.h"
#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

struct WaitersCase {
  ProgressMode progress;
  bool wait_fd;
};

class Waiters : public testing::TestWithParam<WaitersCase> {};

INSTANTIATE_TEST_SUITE_P(Modes, Waiters,
                         testing::Values(WaitersCase{ProgressMode::caller, true},
                                         WaitersCase{ProgressMode::caller, false},
                                         WaitersCase{ProgressMode::thread, true}));

// One leads and polls, the others follow: each must return as soon as its own run is done, in any order of the runs.
TEST_P(Waiters, AllReturn) {
  constexpr std::size_t kThreads = 5;
  RecordingRig::Options options;
  options.config.progress = GetParam().progress;
  options.capabilities.wait_fd = GetParam().wait_fd;
  RecordingRig rig(options);
  const auto pool = rig.pool(exchange_with({1}, 8));
  std::mt19937 random(4);
  for (int repetition = 0; repetition < 20; ++repetition) {
    const std::size_t first = rig.provider().posts().size();
    std::vector<Buffers> buffers(kThreads, Buffers(8));
    std::vector<core::Run*> runs;
    for (Buffers& each : buffers) runs.push_back(&rig.start(*pool, each));
    std::atomic<std::size_t> returned = 0;
    std::vector<std::thread> threads;
    for (core::Run* run : runs)
      threads.emplace_back([run, &returned] {
        core::wait(*run);
        ++returned;
      });
    std::vector<std::size_t> order(kThreads);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t n = 0; n < kThreads; ++n) {
      rig.provider().deliver(first + 2 * order[n], bytes_of(8, 0));
      rig.provider().complete_send(first + 2 * order[n] + 1);
      EXPECT_TRUE(comes_true([&] { return returned == n + 1; })) << "one more should have returned";
    }
    for (std::thread& thread : threads) thread.join();
    for (core::Run* run : runs) {
      EXPECT_TRUE(run->status().ok());
      rig.let_go(*run);
    }
  }
}

// For its peers.
TEST_P(Waiters, ProviderShowsThatACallerWaits) {
  RecordingRig::Options options;
  options.config.progress = GetParam().progress;
  options.capabilities.wait_fd = GetParam().wait_fd;
  RecordingRig rig(options);
  const std::atomic<bool>& waits = *rig.provider().caller_waits();
  const auto pool = rig.pool(exchange_with({1}, 8));
  Buffers buffers(8);
  core::Run& run = rig.start(*pool, buffers);
  EXPECT_FALSE(waits) << "only started";
  std::thread waiter([&] { core::wait(run); });
  EXPECT_TRUE(comes_true([&] { return waits.load(); }));
  rig.provider().settle_all(8);
  waiter.join();
  EXPECT_FALSE(waits);
  rig.let_go(run);
}

TEST_P(Waiters, WaitAnyAmongOthers) {
  RecordingRig::Options options;
  options.config.progress = GetParam().progress;
  options.capabilities.wait_fd = GetParam().wait_fd;
  RecordingRig rig(options);
  const auto pool = rig.pool(exchange_with({1}, 8));
  Buffers buffers(8);
  core::Run& first = rig.start(*pool, buffers);
  core::Run& second = rig.start(*pool, buffers);
  core::Run& third = rig.start(*pool, buffers);
  std::thread waiter([&] { core::wait(first); });
  std::size_t found = 99;
  std::thread any([&] {
    core::Pending* const runs[] = {&second, &third};
    found = core::wait_any(runs);
  });
  rig.provider().deliver(4, bytes_of(8, 0));
  rig.provider().complete_send(5);
  any.join();
  EXPECT_EQ(found, 1u);
  EXPECT_FALSE(first.done());
  rig.provider().settle_all(8);
  waiter.join();
  core::wait(second);
  for (core::Run* run : {&first, &second, &third}) rig.let_go(*run);
}

/// Every rank in a thread of its own.
class RanksAsThreads : public testing::TestWithParam<ProgressMode> {
 protected:
  static constexpr int kRanks = 4;

  RanksAsThreads() {
    Config config = caller_config();
    config.progress = GetParam();
    job_ = std::make_unique<InProcessJob>(kRanks, config, NetworkOptions{.seed = 8});
  }
  template <class Body>
  static void on_every_rank(Body body) {
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < kRanks; ++rank) threads.emplace_back([rank, &body] { body(rank); });
    for (std::thread& thread : threads) thread.join();
  }
  [[nodiscard]] std::unique_ptr<Exchange> exchange(std::uint32_t seed) {
    const Graph graph = random_graph(kRanks, seed);
    return std::make_unique<Exchange>(job_->communicators([&](Rank) { return graph; }),
                                      ExchangeOptions{.seed = seed, .longest_bytes = 100000, .most_pieces = 3});
  }

  std::unique_ptr<InProcessJob> job_;
};

INSTANTIATE_TEST_SUITE_P(Progress, RanksAsThreads, testing::Values(ProgressMode::caller, ProgressMode::thread));

TEST_P(RanksAsThreads, BlockingExchanges) {
  const auto its = exchange(3);
  on_every_rank([&](Rank rank) {
    for (int i = 0; i < 20; ++i) {
      core::Run& run = its->start(rank);
      core::wait(run);
      const Status status = release(run);
      EXPECT_TRUE(status.ok()) << status.message;
    }
  });
  for (Rank rank = 0; rank < kRanks; ++rank) its->check(rank);
}

TEST_P(RanksAsThreads, SeveralThreadsOfARankOnDifferentCommunicators) {
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) exchanges.push_back(exchange(seed));
  on_every_rank([&](Rank rank) {
    std::vector<std::thread> threads;
    for (const auto& each : exchanges)
      threads.emplace_back([&each, rank] {
        for (int i = 0; i < 10; ++i) {
          core::Run& run = each->start(rank);
          core::wait(run);
          EXPECT_TRUE(release(run).ok());
        }
      });
    for (std::thread& thread : threads) thread.join();
  });
  for (const auto& each : exchanges)
    for (Rank rank = 0; rank < kRanks; ++rank) each->check(rank);
}

TEST_P(RanksAsThreads, ExchangesInTheBackground) {
  const auto its = exchange(5);
  std::vector<core::Run*> runs;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    runs.push_back(&its->start(rank));
    job_->context(rank).engine().hand_over_progress();
  }
  if (GetParam() == ProgressMode::caller) job_->finish(runs);  // otherwise no thread drives progress
  for (core::Run* run : runs) EXPECT_TRUE(comes_true([run] { return run->done(); }));
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(release(*runs[static_cast<std::size_t>(rank)]).ok());
    its->check(rank);
  }
}

}  // namespace
}  // namespace fab::test
