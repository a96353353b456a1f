// Discoveries over an unkind network, by each algorithm, a thread for each rank.
#include "fab/discover.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <thread>

#include "bindings/native/base/access.h"
#include "collectives/discover/discover.h"
#include "core/point/own_tag.h"
#include "fab/collectives.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

Config discovering(DiscoverAlgorithm algorithm) {
  Config config = caller_config();
  config.discover = algorithm;
  return config;
}

/// destinations[i] are those of rank i.
using Destinations = std::vector<std::vector<Rank>>;

Destinations random_destinations(int ranks, std::uint32_t seed) {
  std::minstd_rand random(seed);
  Destinations all(static_cast<std::size_t>(ranks));
  for (std::vector<Rank>& its : all) {
    const auto one_in = 1 + random() % 6;
    for (Rank to = 0; to < ranks; ++to)
      if (random() % one_in == 0) its.push_back(to);
    std::ranges::shuffle(its, random);
  }
  return all;
}

std::uint32_t word_of(Rank from, Rank to, std::uint32_t seed) {
  return static_cast<std::uint32_t>(from * 100 + to) * 1000 + seed;
}

void expect_discovery(const Communicator& communicator, const Destinations& all, std::uint32_t seed,
                      std::size_t elements) {
  const Rank self = communicator.rank();
  std::vector<std::uint32_t> out;
  for (const Rank to : all[static_cast<std::size_t>(self)]) out.insert(out.end(), elements, word_of(self, to, seed));
  std::vector<Rank> sources;
  std::vector<std::uint32_t> in;
  for (Rank from = 0; from < communicator.size(); ++from) {
    const std::vector<Rank>& its = all[static_cast<std::size_t>(from)];
    if (std::ranges::find(its, self) == its.end()) continue;
    sources.push_back(from);
    in.insert(in.end(), elements, word_of(from, self, seed));
  }
  const auto found = discover(communicator, all[static_cast<std::size_t>(self)], out, elements);
  EXPECT_EQ(found.sources, sources) << "rank " << self << ", seed " << seed;
  EXPECT_EQ(found.blocks, in) << "rank " << self << ", seed " << seed;
}

template <class Body>
void discover_on_all_ranks(InProcessJob& job, Body body) {
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  std::vector<std::thread> threads;
  for (const auto& communicator : communicators)
    threads.emplace_back([&] { body(Access::communicator(communicator)); });
  for (std::thread& thread : threads) thread.join();
}

class DiscoverBy : public testing::TestWithParam<DiscoverAlgorithm> {};

TEST_P(DiscoverBy, FindsSourcesAndBlocks) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    InProcessJob job(ranks, discovering(GetParam()), {.seed = static_cast<std::uint32_t>(ranks)});
    discover_on_all_ranks(job, [&](const Communicator& communicator) {
      for (std::uint32_t seed = 0; seed < 12; ++seed)
        expect_discovery(communicator, random_destinations(ranks, seed), seed, seed % 3);
    });
  }
}

TEST_P(DiscoverBy, FindsThemWhereMessagesComeEarlyAndRanksShareNodes) {
  constexpr int kRanks = 6;
  InProcessJob job(kRanks, discovering(GetParam()),
                   {.seed = 5, .directed_receive = false, .early_messages_block = true, .nodes = {0, 0, 1, 1, 1, 2}});
  discover_on_all_ranks(job, [&](const Communicator& communicator) {
    for (const std::size_t elements : {std::size_t{1}, std::size_t{2000}})
      for (std::uint32_t seed = 0; seed < 6; ++seed)
        expect_discovery(communicator, random_destinations(kRanks, seed), seed, elements);
  });
}

TEST_P(DiscoverBy, ComparesCalls) {
  constexpr int kRanks = 3;
  Config config = discovering(GetParam());
  config.check = true;
  InProcessJob job(kRanks, config, {});
  discover_on_all_ranks(job, [&](const Communicator& communicator) {
    for (std::uint32_t seed = 0; seed < 5; ++seed)
      expect_discovery(communicator, random_destinations(kRanks, seed), seed, 1);
    const std::vector<Rank> to_first = {0};
    expect_error(Errc::mismatch, {"discover", "barrier"}, [&] {
      if (communicator.rank() == 1)
        barrier(communicator);
      else
        static_cast<void>(discover(communicator, to_first));
    });
    expect_discovery(communicator, random_destinations(kRanks, 1), 1, 1);
  });
}

TEST_P(DiscoverBy, FailsOnAllRanksWhereOneRefuses) {
  constexpr int kRanks = 5;
  InProcessJob job(kRanks, discovering(GetParam()), {});
  discover_on_all_ranks(job, [&](const Communicator& communicator) {
    std::vector<Rank> destinations = {4};  // the one that refuses
    if (communicator.rank() == 4) {
      destinations = {0, 0};
      expect_error(Errc::invalid_argument, {"discover", "destinations[0]", "destinations[1]", "both 0"},
                   [&] { static_cast<void>(discover(communicator, destinations)); });
    } else {
      expect_error(Errc::mismatch, {}, [&] { static_cast<void>(discover(communicator, destinations)); });
    }
    expect_discovery(communicator, random_destinations(kRanks, 1), 1, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, DiscoverBy, testing::Values(DiscoverAlgorithm::nbx, DiscoverAlgorithm::census, DiscoverAlgorithm::exchange),
    [](const auto& parameter) { return collectives::discover_algorithm(parameter.param, 1, 0).name; });

TEST(Discover, TakesAnAlltoallForFewRanksAndShortBlocks) {
  const auto name = [](int ranks, std::size_t bytes) {
    return std::string(collectives::discover_algorithm(DiscoverAlgorithm::automatic, ranks, bytes).name);
  };
  EXPECT_EQ(name(2, 0), "exchange");
  EXPECT_EQ(name(8, 8), "exchange");
  EXPECT_EQ(name(1000, 8), "nbx");
  EXPECT_EQ(name(8, 1 << 20), "nbx");
}

TEST(OwnTags, DifferByPlaceAndMatchNoReceiveOfUsers) {
  using core::own_tag;
  EXPECT_NE(own_tag(0), own_tag(1));
  for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    EXPECT_TRUE(core::is_own(own_tag(place)));
    EXPECT_TRUE(core::matches(own_tag(place), own_tag(place)));
    EXPECT_FALSE(core::matches(kAnyTag, own_tag(place)));
  }
  EXPECT_FALSE(core::is_own(kAnyTag));
  EXPECT_FALSE(core::is_own(Tag{0}));
  EXPECT_TRUE(core::matches(kAnyTag, Tag{0}));
  EXPECT_FALSE(core::matches(own_tag(0), Tag{0}));
}

}  // namespace
}  // namespace fab::test
