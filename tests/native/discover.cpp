// Discoveries of the native API: sources and their blocks against a model of the whole graph, for random graphs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What goes from one rank to another one: unequal for all pairs, and for all rounds.
std::int64_t value_of(Rank from, Rank to, int round) { return (from * 1000 + to) * 1000 + round; }

/// A graph that every rank knows as a whole, so it can tell what each should find.
class Graph {
 public:
  Graph(int ranks, unsigned seed) : ranks_(ranks) {
    std::minstd_rand random(seed);
    const unsigned density = seed % 4;  // none, few, half, all
    for (Rank from = 0; from < ranks; ++from) {
      std::vector<Rank>& to = destinations_.emplace_back();
      for (Rank rank = 0; rank < ranks; ++rank)
        if (density == 3 || (density > 0 && random() % (density == 1 ? 5 : 2) == 0)) to.push_back(rank);
      std::ranges::shuffle(to, random);
    }
  }
  [[nodiscard]] const std::vector<Rank>& destinations(Rank rank) const {
    return destinations_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::vector<Rank> sources(Rank rank) const {
    std::vector<Rank> all;
    for (Rank from = 0; from < ranks_; ++from)
      if (std::ranges::find(destinations(from), rank) != destinations(from).end()) all.push_back(from);
    return all;
  }

 private:
  int ranks_;
  std::vector<std::vector<Rank>> destinations_;
};

class Discover : public test::OnAllRanks {
 protected:
  /// One discovery with blocks of `elements` values.
  static void expect_found(const Communicator& communicator, const Graph& graph, int round, std::size_t elements) {
    const Rank self = communicator.rank();
    std::vector<std::int64_t> out;
    for (const Rank to : graph.destinations(self)) out.insert(out.end(), elements, value_of(self, to, round));
    std::vector<std::int64_t> expected;
    for (const Rank from : graph.sources(self)) expected.insert(expected.end(), elements, value_of(from, self, round));
    const auto [sources, blocks] = discover(communicator, graph.destinations(self), out, elements);
    ASSERT_EQ(sources, graph.sources(self)) << "round " << round;
    ASSERT_EQ(blocks, expected) << "round " << round;
  }
};

TEST_F(Discover, FindsTheSourcesOfRandomGraphs) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Graph graph(size(), seed);
    ASSERT_EQ(discover(world(), graph.destinations(rank())), graph.sources(rank())) << "seed " << seed;
  }
}

// No rank waits between them, so messages of the next come while others are in the one before.
TEST_F(Discover, KeepsThoseThatFollowEachOtherApart) {
  for (int round = 0; round < 300; ++round)
    expect_found(world(), Graph(size(), static_cast<unsigned>(round)), round, 1);
}

TEST_F(Discover, BringsLongBlocks) {
  for (const std::size_t elements : {std::size_t{100}, std::size_t{1000}, std::size_t{20'000}})
    for (unsigned seed = 0; seed < 8; ++seed) expect_found(world(), Graph(size(), seed), 0, elements);
}

TEST_F(Discover, LeavesOtherMessagesAlone) {
  const Communicator other = world().duplicate();
  for (int round = 0; round < 40; ++round) {
    int mine = rank() * 100 + round;
    int theirs = -1;
    double sum = 1;
    Request receive = irecv(world(), theirs);
    Request reduction = allreduce.start(other, sum, ReduceOp::sum);
    const Graph graph(size(), static_cast<unsigned>(round));
    expect_found(world(), graph, round, 1);
    EXPECT_FALSE(iprobe(world()).has_value()) << "of any tag";
    expect_found(other, graph, round + 1, 2);
    send(world(), mine, {next(), Tag{round}});
    receive.wait();
    reduction.wait();
    EXPECT_EQ(theirs, previous() * 100 + round);
    EXPECT_EQ(sum, size());
    EXPECT_EQ(receive.message(), (MessageInfo{previous(), Tag{round}, sizeof(int)}));
  }
}

TEST_F(Discover, WorksInSeveralCommunicatorsAndThreadsAtOnce) {
  constexpr int kThreads = 3;
  std::vector<Communicator> communicators;
  for (int i = 0; i < kThreads; ++i) communicators.push_back(world().duplicate());
  std::vector<std::jthread> threads;
  for (const Communicator& communicator : communicators)
    threads.emplace_back([&communicator, number = &communicator - communicators.data()] {
      for (int round = 0; round < 50; ++round) {
        const Graph graph(size(), static_cast<unsigned>(round + number));
        expect_found(communicator, graph, round + 1000 * static_cast<int>(number), 1);
      }
    });
}

TEST_F(Discover, NumbersRanksAsTheCommunicatorDoes) {
  std::vector<Rank> reversed(static_cast<std::size_t>(size()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const auto communicator = world().subset(reversed);
  ASSERT_TRUE(communicator);
  for (unsigned seed = 0; seed < 8; ++seed) expect_found(*communicator, Graph(size(), seed), 0, 1);
}

TEST_F(Discover, MakesAGraph) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Graph graph(size(), seed);
    const Communicator made = world().distributed_graph_to(graph.destinations(rank()));
    const auto peers = [](const std::vector<Edge>& edges) {
      std::vector<Rank> ranks;
      for (const Edge& edge : edges) ranks.push_back(edge.peer);
      return ranks;
    };
    ASSERT_EQ(peers(made.neighborhood().destinations), graph.destinations(rank()));
    ASSERT_EQ(peers(made.neighborhood().sources), graph.sources(rank()));
    std::vector<int> out(graph.destinations(rank()).size(), rank());
    std::vector<int> in(graph.sources(rank()).size(), -1);
    neighbor_xchg(made, out, in);
    EXPECT_EQ(in, graph.sources(rank()));
  }
}

TEST_F(Discover, MakesAGraphWhosePlacesAreReordered) {
  const Communicator made = world().distributed_graph_to({next()}, Reorder::yes, {3});
  const int mine = made.rank();
  int theirs = -1;
  neighbor_xchg(made, mine, theirs);
  EXPECT_EQ(theirs, (mine + size() - 1) % size());
}

/// What the call throws.
template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {Errc::invalid_schedule, "no error"};
}

// All ranks refuse the same, and go on.
TEST_F(Discover, RefusesWrongArguments) {
  const std::vector<Rank> beyond = {0, size()};
  const std::vector<Rank> negative = {-1};
  const std::vector<Rank> twice = {0, 0};
  const std::vector<Rank> one = {0};
  const std::vector<int> two_blocks = {1, 2};
  const auto outside = error_of([&] { static_cast<void>(discover(world(), beyond)); });
  EXPECT_EQ(outside.errc(), Errc::invalid_rank);
  EXPECT_THAT(outside.what(), HasSubstr("discover: destinations[1] is " + std::to_string(size()) +
                                        "; the communicator has ranks 0 to " + std::to_string(size() - 1)));
  EXPECT_EQ(error_of([&] { static_cast<void>(discover(world(), negative)); }).errc(), Errc::invalid_rank);
  const auto repeated = error_of([&] { static_cast<void>(discover(world(), twice)); });
  EXPECT_EQ(repeated.errc(), Errc::invalid_argument);
  EXPECT_THAT(repeated.what(), HasSubstr("discover: destinations[0] and destinations[1] are both 0"));
  const auto size_error = error_of([&] { static_cast<void>(discover(world(), one, two_blocks)); });
  EXPECT_EQ(size_error.errc(), Errc::invalid_count);
  EXPECT_THAT(size_error.what(), AllOf(HasSubstr("blocks has 8 bytes"), HasSubstr("4 for each of 1 destinations")));
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto too_long =
      error_of([&] { static_cast<void>(discover(world(), one, std::span<const std::byte>(), most)); });
  EXPECT_EQ(too_long.errc(), Errc::invalid_count);
  EXPECT_THAT(too_long.what(), HasSubstr("discover: block_bytes is " + std::to_string(most) + "; valid are 0 to "));
  EXPECT_EQ(error_of([&] { static_cast<void>(discover(world(), one, two_blocks, most / 4 + 1)); }).errc(),
            Errc::invalid_count);
  EXPECT_EQ(error_of([&] { static_cast<void>(world().distributed_graph_to({0}, Reorder::no, {-1})); }).errc(),
            Errc::invalid_argument);
  expect_found(world(), Graph(size(), 3), 0, 1);
}

// The others learn of it: each rank sends to all, so each waits for the one that refuses.
TEST_F(Discover, FailsEverywhereWhereOneRankRefuses) {
  if (size() == 1) GTEST_SKIP() << "no other rank";
  std::vector<Rank> destinations(static_cast<std::size_t>(size()));
  std::iota(destinations.begin(), destinations.end(), 0);
  if (rank() == size() - 1) destinations.push_back(size());
  const auto error = error_of([&] { static_cast<void>(discover(world(), destinations)); });
  if (rank() == size() - 1)
    EXPECT_EQ(error.errc(), Errc::invalid_rank);
  else
    EXPECT_EQ(error.errc(), Errc::mismatch) << error.what();
  expect_found(world(), Graph(size(), 2), 0, 1);
}

TEST_F(Discover, FailsWhereBlocksDifferInSize) {
  if (size() == 1) GTEST_SKIP() << "no other rank";
  const Communicator alone = world().duplicate();
  const std::vector<Rank> to_next = {next()};
  const std::vector<char> block(rank() == 0 ? 16 : 8);
  const auto error = error_of([&] { static_cast<void>(discover(alone, to_next, block, block.size())); });
  if (rank() < 2) {
    EXPECT_THAT(error.errc(), testing::AnyOf(Errc::mismatch, Errc::truncated)) << error.what();
  }
}

TEST_F(Discover, TakesEmptyBlocksAndNoDestinations) {
  const std::vector<Rank> none;
  EXPECT_THAT(discover(world(), none), IsEmpty());
  const std::vector<Rank> root = {0};
  const std::vector<int> no_elements;
  const auto [sources, blocks] = discover(world(), root, no_elements, 0);
  EXPECT_EQ(sources.size(), rank() == 0 ? static_cast<std::size_t>(size()) : 0u);
  EXPECT_THAT(blocks, IsEmpty());
}

}  // namespace
}  // namespace fab
