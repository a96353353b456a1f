#include "core/bootstrap/store.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <thread>

#include "core/bootstrap/launcher.h"
#include "core/bootstrap/reported_job.h"
#include "fab/error.h"
#include "support/asleep.h"
#include "support/store_answers.h"
#include "unit/support/environment_of.h"

namespace fab {
namespace {

using fab::test::Answer;
using fab::test::environment_of;
using fab::test::fetch;
using fab::test::fetched;
using fab::test::is_answered;
using fab::test::is_asleep;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kForever_s = std::numeric_limits<double>::infinity();

template <class Body>
void for_each_rank_in_a_thread(std::vector<std::unique_ptr<Store>>& stores, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(stores.size());
  for (const std::unique_ptr<Store>& store : stores) threads.emplace_back([&body, &store] { body(*store); });
  for (std::thread& thread : threads) thread.join();
}

TEST(MemoryStore, KnowsItsPlace) {
  const auto stores = open_memory_stores(3);
  ASSERT_EQ(stores.size(), 3u);
  for (Rank rank = 0; rank < 3; ++rank) {
    const JobInfo& job = stores[static_cast<std::size_t>(rank)]->job();
    EXPECT_EQ(job.rank, rank);
    EXPECT_EQ(job.size, 3);
    EXPECT_EQ(job.local_size, 3);
    EXPECT_EQ(job.node_count, 1);
    EXPECT_THAT(job.other_nodes, IsEmpty());
    EXPECT_EQ(job.origin, "in-process");
  }
}

TEST(MemoryStore, PretendsNodes) {
  const auto stores = open_memory_stores(4, {5, 2, 5, 5});
  for (const auto& store : stores) {
    EXPECT_THAT(store->nodes(), ElementsAre(5, 2, 5, 5));
    EXPECT_EQ(store->job().node_count, 2);
  }
  EXPECT_THAT(stores[1]->job().node_ranks, ElementsAre(1));
  EXPECT_THAT(stores[2]->job().node_ranks, ElementsAre(0, 2, 3));
  EXPECT_EQ(stores[2]->job().local_size, 3);
}

TEST(MemoryStore, FetchAfterPublish) {
  const auto stores = open_memory_stores(2);
  stores[1]->publish("a", "from 1");
  stores[0]->publish("a", "from 0");
  EXPECT_EQ(fetched(*stores[0], 1, "a"), "from 1");
  EXPECT_EQ(fetched(*stores[0], 0, "a"), "from 0");
}

TEST(MemoryStore, FetchWaitsForExactlyItsKey) {
  const auto stores = open_memory_stores(2);
  const std::future<Answer> first = fetch(*stores[0], 1, "first");
  std::future<Answer> second = fetch(*stores[0], 1, "second");
  stores[0]->publish("second", "of another rank");
  stores[1]->publish("first", "1");
  EXPECT_TRUE(is_answered(first));
  EXPECT_FALSE(is_answered(second));
  stores[1]->publish("second", "2");
  EXPECT_EQ(second.get().value, "2");
}

TEST(MemoryStore, EveryWaitingRankIsAnswered) {
  const auto stores = open_memory_stores(4);
  std::vector<std::future<Answer>> answers;
  answers.reserve(stores.size());
  for (const auto& store : stores) answers.push_back(fetch(*store, 2, "a"));
  stores[2]->publish("a", "x");
  for (std::future<Answer>& answer : answers) EXPECT_EQ(answer.get().value, "x");
}

TEST(MemoryStore, ValuesAreAnyBytes) {
  const auto stores = open_memory_stores(1);
  const std::string bytes("\0a\0\xff", 4);
  stores[0]->publish("bytes", bytes);
  stores[0]->publish("empty", "");
  EXPECT_EQ(fetched(*stores[0], 0, "bytes"), bytes);
  EXPECT_EQ(fetched(*stores[0], 0, "empty"), "");
}

TEST(MemoryStore, AnAnswerMayFetchAgain) {
  const auto stores = open_memory_stores(2);
  std::promise<std::string> second;
  stores[0]->fetch(1, "a", [&](const std::optional<std::string>&, const std::string&) {
    stores[0]->fetch(1, "b", [&](std::optional<std::string> value, const std::string&) { second.set_value(*value); });
  });
  stores[1]->publish("a", "1");
  stores[1]->publish("b", "2");
  EXPECT_EQ(second.get_future().get(), "2");
}

TEST(MemoryStore, RankOutsideTheJobIsRefused) {
  const auto stores = open_memory_stores(2);
  for (const Rank rank : {-1, 2}) {
    try {
      fetch(*stores[0], rank, "a");
      ADD_FAILURE() << "rank " << rank << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.errc(), Errc::invalid_rank);
      EXPECT_THAT(error.what(), testing::HasSubstr("rank " + std::to_string(rank) + " is not one of 0 to 1"));
    }
  }
}

TEST(MemoryStore, ClosingAnswersOpenFetches) {
  auto stores = open_memory_stores(2);
  std::future<Answer> closed = fetch(*stores[0], 1, "a");
  std::future<Answer> other = fetch(*stores[1], 1, "a");
  stores[0].reset();
  const Answer answer = closed.get();
  EXPECT_EQ(answer.value, std::nullopt);
  EXPECT_EQ(answer.reason, "the store was closed");
  EXPECT_FALSE(is_answered(other));
  stores[1]->publish("a", "x");
  EXPECT_EQ(other.get().value, "x");
}

TEST(MemoryStore, ClosingWaitsForARunningAnswer) {
  auto stores = open_memory_stores(2);
  std::atomic<bool> running = false;
  std::atomic<bool> has_returned = false;
  const pid_t closing = ::gettid();
  stores[0]->fetch(1, "a", [&](const std::optional<std::string>&, const std::string&) {
    running = true;
    while (!is_asleep(closing)) std::this_thread::yield();
    has_returned = true;
  });
  std::thread publisher([&] { stores[1]->publish("a", "x"); });
  while (!running) std::this_thread::yield();
  stores[0].reset();  // the answer goes on once this waits for it
  EXPECT_TRUE(has_returned);
  publisher.join();
}

TEST(MemoryStore, RanksAsThreads) {
  constexpr int kRanks = 8;
  constexpr int kKeys = 20;
  auto stores = open_memory_stores(kRanks);
  std::atomic<int> wrong = 0;
  for_each_rank_in_a_thread(stores, [&](Store& store) {
    std::vector<std::future<Answer>> answers;
    for (int key = 0; key < kKeys; ++key) {
      const int peer = (store.job().rank + key) % kRanks;
      answers.push_back(fetch(store, peer, std::to_string(key)));
      store.publish(std::to_string(key), std::to_string(store.job().rank));
    }
    for (int key = 0; key < kKeys; ++key) {
      const int peer = (store.job().rank + key) % kRanks;
      if (answers[static_cast<std::size_t>(key)].get().value != std::to_string(peer)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(MemoryStore, NoRankLeavesAFenceEarly) {
  constexpr int kRanks = 8;
  auto stores = open_memory_stores(kRanks);
  std::atomic<int> arrivals = 0;
  std::atomic<int> wrong = 0;
  for_each_rank_in_a_thread(stores, [&](Store& store) {
    for (int round = 1; round <= 50; ++round) {
      ++arrivals;
      if (!store.fence(kForever_s, {}) || arrivals < round * kRanks) ++wrong;
      if (!store.fence(kForever_s, {})) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(MemoryStore, AFenceThatTimedOutIsWaitedForAgain) {
  const auto stores = open_memory_stores(2);
  EXPECT_FALSE(stores[0]->fence(0, {}));
  EXPECT_FALSE(stores[0]->fence(0.02, {}));
  std::thread other([&] { EXPECT_TRUE(stores[1]->fence(10, {})); });
  EXPECT_TRUE(stores[0]->fence(10, {}));
  other.join();
}

TEST(MemoryStore, AFenceCallsIdleWhileItWaits) {
  const auto stores = open_memory_stores(2);
  std::atomic<int> idles = 0;
  std::thread other([&] {
    while (idles < 3) std::this_thread::yield();
    EXPECT_TRUE(stores[1]->fence(10, {}));
  });
  EXPECT_TRUE(stores[0]->fence(10, [&] { ++idles; }));
  EXPECT_GE(idles, 3);
  other.join();
}

TEST(SingletonStore, IsAJobOfOne) {
  const auto store = open_singleton_store();
  EXPECT_EQ(store->job().rank, 0);
  EXPECT_EQ(store->job().size, 1);
  EXPECT_EQ(store->job().origin, "singleton");
  EXPECT_TRUE(store->fence(1, {}));
  store->publish("a", "x");
  EXPECT_EQ(fetched(*store, 0, "a"), "x");
}

std::optional<std::string> launcher_variable(const std::map<std::string, std::string>& variables) {
  return find_launcher_variable(environment_of(variables));
}

std::optional<std::string> other_launcher_variable(const std::map<std::string, std::string>& variables) {
  return find_other_launcher_variable(environment_of(variables));
}

TEST(Launcher, VariablesOfSeveralProcesses) {
  EXPECT_EQ(launcher_variable({{"PMIX_RANK", "0"}}), "PMIX_RANK=0");
  EXPECT_EQ(launcher_variable({{"PMIX_NAMESPACE", "x"}}), "PMIX_NAMESPACE=x");
  EXPECT_EQ(launcher_variable({{"OMPI_COMM_WORLD_SIZE", "2"}}), "OMPI_COMM_WORLD_SIZE=2");
  EXPECT_EQ(launcher_variable({{"PMI_RANK", "1"}}), "PMI_RANK=1");
  EXPECT_EQ(launcher_variable({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}), "PMI_RANK=1");
  EXPECT_EQ(launcher_variable({{"SLURM_STEP_NUM_TASKS", "16"}}), "SLURM_STEP_NUM_TASKS=16");
}

TEST(Launcher, VariablesOfOneProcess) {
  EXPECT_EQ(launcher_variable({}), std::nullopt);
  EXPECT_EQ(launcher_variable({{"OMPI_COMM_WORLD_SIZE", "1"}}), std::nullopt);
  EXPECT_EQ(launcher_variable({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), std::nullopt);
  EXPECT_EQ(launcher_variable({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}), std::nullopt) << "a batch script";
}

TEST(Launcher, OpenMpiThatStartsItsOwnServerUnderAnother) {
  const std::string name = "OMPI_MCA_ess";
  EXPECT_EQ(other_launcher_variable({{name, "singleton"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), "PMI_RANK=1");
  EXPECT_EQ(other_launcher_variable({{name, "singleton"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "SLURM_STEP_NUM_TASKS=4");
  EXPECT_EQ(other_launcher_variable({{name, "singleton"}, {"PMIX_RANK", "0"}}), std::nullopt) << "started by hand";
  EXPECT_EQ(other_launcher_variable({{name, "singleton"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), std::nullopt);
  EXPECT_EQ(other_launcher_variable({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}}), std::nullopt)
      << "mpirun in a Slurm job";
}

TEST(ReportedJob, CompleteReport) {
  const JobInfo job = complete_job(
      {.size = 6, .local_size = 2, .node_count = 3, .node_list = "n1,n2,n3", .host_name = "n2.cluster.example"});
  EXPECT_EQ(job.size, 6);
  EXPECT_EQ(job.local_size, 2);
  EXPECT_EQ(job.node_count, 3);
  EXPECT_THAT(job.other_nodes, ElementsAre("n3", "n1"));
}

TEST(ReportedJob, OneNodeHasNoOthers) {
  const JobInfo job = complete_job({.size = 4, .node_list = "localhost", .host_name = "n1"});
  EXPECT_EQ(job.node_count, 1);
  EXPECT_EQ(job.local_size, 4);
  EXPECT_THAT(job.other_nodes, IsEmpty());
}

TEST(ReportedJob, NodesAreCountedWhereTheNumberIsMissing) {
  const JobInfo job = complete_job({.size = 5, .node_list = "n1,n2", .host_name = "n1"});
  EXPECT_EQ(job.node_count, 2);
  EXPECT_EQ(job.local_size, 3);
  EXPECT_THAT(job.other_nodes, ElementsAre("n2"));
}

TEST(ReportedJob, NodesFollowFromLocalRanksWhereTheListIsMissing) {
  const JobInfo job = complete_job({.size = 5, .local_size = 2, .host_name = "n1"});
  EXPECT_EQ(job.node_count, 3);
  EXPECT_EQ(job.local_size, 2);
  EXPECT_THAT(job.other_nodes, IsEmpty());
}

TEST(ReportedJob, SizeAloneMeansOneNode) {
  const JobInfo job = complete_job({.size = 7});
  EXPECT_EQ(job.node_count, 1);
  EXPECT_EQ(job.local_size, 7);
}

TEST(ReportedJob, FewNodesOfALargeJobAreKept) {
  std::string list = "n0";
  for (int node = 1; node < 1000; ++node) list += ",n" + std::to_string(node);
  const JobInfo job = complete_job({.size = 1000, .local_size = 1, .node_list = list, .host_name = "n995"});
  EXPECT_EQ(job.node_count, 1000);
  EXPECT_THAT(job.other_nodes, ElementsAre("n996", "n997", "n998", "n999", "n0", "n1", "n2", "n3"));
}

}  // namespace
}  // namespace fab
