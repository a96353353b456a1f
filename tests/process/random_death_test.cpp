// Ranks of a node that are killed at any moment: the others end with an error, and nothing is left behind.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>
#include <set>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "core/communicator/communicator.h"
#include "fab/fab.h"
#include "process/forked_job.h"
#include "support/head_start.h"
#include "support/time_limit.h"

namespace fab::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const double kTimeLimitS = time_limit_s(30);
constexpr int kRanks = 3;
constexpr std::array<std::size_t, 4> kBytes = {8, 3000, 100'000, 3'000'000};

std::string data_of(Rank sender, std::size_t bytes) { return std::string(bytes, static_cast<char>('a' + sender)); }

/// Exchanges with every rank, in all sizes, and broadcasts, which both ends copy; so many times.
std::string exchange_on(std::unique_ptr<Store> store, int times, double wait_timeout_s) {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.wait_timeout_s = wait_timeout_s;
  const auto context = open_context(config, std::move(store));
  const auto core = core::Communicator::world(context);
  const Rank self = core->rank();
  std::vector<Rank> others;
  for (Rank rank = 0; rank < kRanks; ++rank)
    if (rank != self) others.push_back(rank);
  core->set_topology(DistributedGraph(others, others));
  const Communicator communicator = Access::communicator(core);
  for (int i = 0; i != times; ++i) {
    const std::size_t bytes = kBytes[static_cast<std::size_t>(i) % kBytes.size()];
    const std::string out = data_of(self, 2 * bytes);
    std::string in(2 * bytes, '-');
    neighbor_xchg(communicator, out.data(), in.data(), Layout::contiguous(bytes));
    if (in != data_of(others[0], bytes) + data_of(others[1], bytes)) return "wrong data";
    const Rank root = i % kRanks;
    std::string spread = data_of(self, bytes);
    bcast(communicator, spread.data(), Layout::contiguous(bytes), Root{root});
    if (spread != data_of(root, bytes)) return "wrong data";
    if (i == 0) ForkedJob::mark();
  }
  return "done";
}

std::vector<ForkedJob::Body> bodies(int times, double wait_timeout_s) {
  return {kRanks, [=](std::unique_ptr<Store> store) {
            try {
              return exchange_on(std::move(store), times, wait_timeout_s);
            } catch (const Error& error) {
              return std::string(error.what());
            }
          }};
}

std::set<std::string> shared_memory_files() {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) files.insert(entry.path().filename());
  return files;
}

TEST(RandomDeath, OthersEndAndNothingIsLeftBehind) {
  constexpr int kDeaths = 50;
  constexpr int kLongestLifeUs = 20'000;
  const std::set<std::string> before = shared_memory_files();
  std::mt19937 random(11);
  for (int death = 0; death < kDeaths; ++death) {
    const Rank victim = static_cast<Rank>(random() % kRanks);
    const auto life = std::chrono::microseconds(random() % kLongestLifeUs);
    SCOPED_TRACE(testing::Message() << "death " << death << ": rank " << victim << " after " << life.count() << " us");
    // Every other time while the ranks are still meeting: nothing but the time-out tells of a rank that is killed
    // before it can be found. On a busy machine that may come first.
    const bool have_met = death % 2 == 0;
    ForkedJob job(bodies(std::numeric_limits<int>::max(), have_met ? 0 : 0.3));
    if (have_met) {
      ASSERT_TRUE(job.wait_for_mark(victim, kTimeLimitS));
    }
    give_head_start(life);
    job.kill(victim);
    for (Rank rank = 0; rank < kRanks; ++rank) {
      if (rank == victim) continue;
      // One survivor may have ended by the death of the other, which leaves when its exchange fails.
      const testing::Matcher<std::string> tells_of_an_end = AnyOf(HasSubstr("has ended"), HasSubstr("unreachable"));
      EXPECT_THAT(job.result(rank, kTimeLimitS),
                  have_met ? tells_of_an_end : AnyOf(tells_of_an_end, HasSubstr("no progress for 0.3 s")))
          << rank;
    }
  }
  EXPECT_EQ(shared_memory_files(), before);
  ForkedJob job(bodies(8, 0));
  for (Rank rank = 0; rank < kRanks; ++rank) EXPECT_EQ(job.result(rank, kTimeLimitS), "done");
}

}  // namespace
}  // namespace fab::test
