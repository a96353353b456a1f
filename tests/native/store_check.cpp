// Tests of the launcher's store under mpirun, without MPI in the process.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <future>

#include "core/bootstrap/store.h"
#include "support/head_start.h"
#include "support/launched.h"
#include "support/store_answers.h"
#include "support/time_limit.h"

namespace fab {
namespace {

using namespace std::chrono_literals;

const double kFenceTimeout_s = test::time_limit_s(20);

using test::Answer;
using test::fetch;
using test::fetched;
using test::wait_for;

class StoreCheck : public testing::Test {
 protected:
  static void SetUpTestSuite() { open(); }
  static void TearDownTestSuite() { close(); }

  static void open() { opened() = open_store(); }
  static void close() { opened().reset(); }

  static Store& store() { return *opened(); }
  static Rank rank() { return opened()->job().rank; }
  static int size() { return opened()->job().size; }
  static Rank next() { return (rank() + 1) % size(); }
  static Rank previous() { return (rank() + size() - 1) % size(); }

 private:
  static std::unique_ptr<Store>& opened() {
    static std::unique_ptr<Store> store;
    return store;
  }
};

TEST_F(StoreCheck, JobIsTheLaunchersJob) {
  const JobInfo& job = store().job();
  EXPECT_EQ(job.rank, test::launched_rank());
  EXPECT_EQ(job.size, test::launched_ranks());
  EXPECT_EQ(job.local_size, test::launched_ranks_here());
  EXPECT_THAT(job.origin, testing::StartsWith("pmix namespace "));
  EXPECT_EQ(job.node_count > 1, job.local_size < job.size);
  EXPECT_EQ(job.other_nodes.size(), static_cast<std::size_t>(job.node_count - 1));
}

TEST_F(StoreCheck, NodesAreThoseOfTheJob) {
  const std::vector<int> nodes = store().nodes();
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(size()));
  std::vector<Rank> on_mine;
  for (Rank other = 0; other < size(); ++other)
    if (nodes[static_cast<std::size_t>(other)] == nodes[static_cast<std::size_t>(rank())]) on_mine.push_back(other);
  EXPECT_EQ(on_mine, store().job().node_ranks);
}

TEST_F(StoreCheck, FetchWaitsUntilThePeerPublishes) {
  std::future<Answer> late = fetch(store(), next(), "late");
  std::future<Answer> later = fetch(store(), next(), "later");
  store().publish("asked", "");
  ASSERT_EQ(fetched(store(), previous(), "asked"), "");
  test::give_head_start(300ms);
  store().publish("late", "late of " + std::to_string(rank()));
  EXPECT_EQ(wait_for(late), "late of " + std::to_string(next()));
  test::give_head_start(100ms);
  store().publish("later", "later of " + std::to_string(rank()));
  EXPECT_EQ(wait_for(later), "later of " + std::to_string(next()));
}

TEST_F(StoreCheck, KeysPublishedAfterAFetchAreSeen) {
  for (const char* key : {"second", "third", "fourth"}) {
    store().publish(key, std::string(key) + std::to_string(rank()));
    EXPECT_EQ(fetched(store(), next(), key), std::string(key) + std::to_string(next()));
  }
}

// PMIx gives up after two seconds.
TEST_F(StoreCheck, FetchOutlivesTheServersTimeout) {
  std::future<Answer> patient = fetch(store(), next(), "patient");
  test::give_head_start(2500ms);
  store().publish("patient", "x");
  EXPECT_EQ(wait_for(patient), "x");
}

TEST_F(StoreCheck, ValuesAreAnyBytes) {
  std::string bytes(5000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 % 256);
  store().publish("bytes", bytes);
  store().publish("empty", "");
  EXPECT_EQ(fetched(store(), next(), "bytes"), bytes);
  EXPECT_EQ(fetched(store(), next(), "empty"), "");
  EXPECT_EQ(fetched(store(), rank(), "bytes"), bytes);
}

TEST_F(StoreCheck, EveryRankSeesEveryOther) {
  store().publish("all", std::to_string(rank()));
  std::vector<std::future<Answer>> answers;
  answers.reserve(static_cast<std::size_t>(size()));
  for (Rank peer = 0; peer < size(); ++peer) answers.push_back(fetch(store(), peer, "all"));
  for (Rank peer = 0; peer < size(); ++peer) {
    EXPECT_EQ(wait_for(answers[static_cast<std::size_t>(peer)]), std::to_string(peer));
  }
}

// A busy machine makes it last longer only.
TEST_F(StoreCheck, NoRankLeavesAFenceEarly) {
  const Rank last = size() - 1;
  const auto start = std::chrono::steady_clock::now();
  int idles = 0;
  if (rank() == last) {
    for (Rank peer = 0; peer < last; ++peer) ASSERT_EQ(fetched(store(), peer, "before fence"), "");
    test::give_head_start(300ms);
    ASSERT_TRUE(store().fence(kFenceTimeout_s, {}));
  } else {
    store().publish("before fence", "");
    ASSERT_TRUE(store().fence(kFenceTimeout_s, [&] { ++idles; }));
    EXPECT_GT(idles, 0);
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, 300ms);
}

// Rank 0 comes when all others have given up once.
TEST_F(StoreCheck, AFenceThatTimedOutIsWaitedForAgain) {
  if (rank() == 0) {
    for (Rank peer = 1; peer < size(); ++peer) EXPECT_EQ(fetched(store(), peer, "timed out"), "");
  } else {
    EXPECT_FALSE(store().fence(0.05, {}));
    store().publish("timed out", "");
  }
  EXPECT_TRUE(store().fence(kFenceTimeout_s, {}));
}

TEST_F(StoreCheck, StoreMayBeClosedWithOpenFetchesAndOpenedAgain) {
  std::future<Answer> first = fetch(store(), next(), "never");
  std::future<Answer> second = fetch(store(), next(), "never either");
  const JobInfo before = store().job();
  close();
  for (std::future<Answer>* answer : {&first, &second}) {
    const Answer got = answer->get();
    EXPECT_EQ(got.value, std::nullopt);
    EXPECT_EQ(got.reason, "the store was closed");
  }
  open();
  EXPECT_EQ(store().job().rank, before.rank);
  EXPECT_EQ(store().job().size, before.size);
  EXPECT_EQ(store().job().local_size, before.local_size);
  EXPECT_EQ(store().job().node_count, before.node_count);
  EXPECT_EQ(store().job().other_nodes, before.other_nodes);
  EXPECT_TRUE(store().fence(kFenceTimeout_s, {}));
}

TEST_F(StoreCheck, AStoreOpenedAgainHasItsOwnKeys) {
  store().publish("late", "of the second store");
  EXPECT_EQ(fetched(store(), next(), "late"), "of the second store");
}

// Last: the ranks tell rank 0 through the store itself.
TEST_F(StoreCheck, EveryRankHasPassed) {
  const bool failed = testing::UnitTest::GetInstance()->failed_test_count() > 0;
  store().publish("result", failed ? "failed" : "passed");
  if (rank() == 0) {
    for (Rank peer = 0; peer < size(); ++peer) EXPECT_EQ(fetched(store(), peer, "result"), "passed") << "rank " << peer;
    if (!HasFailure()) std::puts("store_check: ok");
  }
  EXPECT_TRUE(store().fence(kFenceTimeout_s, {}));
}

}  // namespace
}  // namespace fab
