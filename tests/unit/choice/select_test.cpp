// The registry, and the selection of algorithms.
#include "collectives/choice/select.h"

#include <gmock/gmock.h>

#include <iterator>
#include <set>
#include <span>
#include <string_view>

#include "collectives/choice/built_in_rules.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using collectives::Algorithm;
using collectives::CollectiveCall;

TEST(Registry, NamesEachAlgorithmOnceAndBeginsWithOneThatDoesEverything) {
  std::set<std::pair<Collective, std::string>> names;
  for (std::size_t i = 0; i < kCollectives; ++i) {
    const auto rows = collectives::algorithms(static_cast<Collective>(i));
    ASSERT_FALSE(rows.empty()) << to_string(static_cast<Collective>(i));
    EXPECT_STREQ(rows.front().restriction.text, "");
    for (const Algorithm& row : rows) {
      EXPECT_TRUE(names.emplace(row.collective, row.name).second) << row.name;
      EXPECT_EQ(collectives::find_algorithm(row.collective, row.name), &row);
      EXPECT_STRNE(row.description, "");
    }
  }
  EXPECT_EQ(names.size(), collectives::algorithms().size()) << "rows of a collective stand together";
}

TEST(Registry, KnowsTheAlgorithmsThatTeach) {
  std::multiset<std::string> teaching;
  for (const Algorithm& row : collectives::algorithms())
    if (row.teaches) teaching.insert(row.name);
  EXPECT_THAT(teaching,
              testing::ElementsAre("array_1d", "array_1d", "array_2d", "array_2d", "array_3d", "array_3d",
                                   "dimension_exchange", "dimension_exchange", "hypercube", "hypercube_packets"));
}

TEST(Select, TakesTheOneThatTheVariableNames) {
  const core::NodeMap nodes = core::NodeMap::regular(8, 2);
  for (const Algorithm& row : collectives::algorithms()) {
    Config config = caller_config();
    config.algorithms[static_cast<std::size_t>(row.collective)] = row.name;
    const CollectiveCall call{.collective = row.collective, .ranks = 8, .nodes = &nodes, .bytes = 64};
    EXPECT_EQ(&collectives::select(call, config), &row);
  }
}

TEST(Select, TakesNoRingWhoseStepsAllLeadToOtherNodes) {
  const core::NodeMap in_turn = core::NodeMap::of(std::vector{0, 1, 0, 1, 0, 1, 0, 1});
  const core::NodeMap consecutive = core::NodeMap::regular(8, 4);
  for (const Collective collective : {Collective::allgather, Collective::allgatherv, Collective::reduce_scatter}) {
    CollectiveCall call{.collective = collective, .ranks = 8, .nodes = &consecutive, .bytes = 1 << 20};
    EXPECT_STREQ(collectives::select(call, caller_config()).name, "ring") << to_string(collective);
    call.nodes = &in_turn;
    EXPECT_STREQ(collectives::select(call, caller_config()).name, "leaders") << to_string(collective);
  }
}

/// Of a call in a place of which rules know, and of one elsewhere.
struct ChosenThere {
  Collective collective;
  int ranks;
  std::size_t bytes;
  const char* there;
  const char* elsewhere;
};

/// `place` is the member that tells of the place. On one node, or on nodes of 4 ranks.
void expect_choices(std::span<const ChosenThere> all, bool CollectiveCall::*place, bool one_node) {
  for (const ChosenThere& expected : all) {
    const core::NodeMap nodes = core::NodeMap::regular(expected.ranks, 4);
    CollectiveCall call{.collective = expected.collective,
                        .ranks = expected.ranks,
                        .one_node = one_node,
                        .nodes = one_node ? nullptr : &nodes,
                        .bytes = expected.bytes,
                        .operation = {.commutative = true}};
    SCOPED_TRACE(testing::Message() << to_string(expected.collective) << ' ' << call.ranks << ' ' << call.bytes);
    EXPECT_STREQ(collectives::select(call, caller_config()).name, expected.elsewhere);
    call.*place = true;
    EXPECT_STREQ(collectives::select(call, caller_config()).name, expected.there);
  }
}

TEST(Select, LetsLeadersTakeWhatTcpTakesLongFor) {
  constexpr ChosenThere kExpected[] = {
      {Collective::allgather, 8, 512 << 10, "leaders", "ring"},
      {Collective::allgather, 8, 1 << 20, "ring", "ring"},
      {Collective::allgather, 64, 128 << 10, "leaders", "ring"},
      {Collective::allgather, 64, 512 << 10, "ring", "ring"},
      {Collective::reduce_scatter, 8, 512 << 10, "leaders", "ring"},
      {Collective::reduce_scatter, 8, 1 << 20, "ring", "ring"},
      {Collective::allreduce, 8, 64 << 10, "leaders", "sliced"},
      {Collective::allreduce, 8, 128 << 10, "sliced", "sliced"},
      {Collective::allreduce, 64, 8 << 10, "leaders", "sliced"},
      {Collective::allreduce, 64, 64 << 10, "sliced", "sliced"},
      {Collective::gather, 8, 8 << 10, "leaders", "linear"},
      {Collective::scatter, 8, 8 << 10, "leaders", "linear"},
      {Collective::alltoall, 8, 8 << 10, "node_first", "linear"},
      {Collective::alltoall, 8, 16 << 10, "linear", "linear"},
  };
  expect_choices(kExpected, &CollectiveCall::over_tcp, false);
}

TEST(Select, TakesAnotherOneForCallsThatItCannotDo) {
  Config config = caller_config();
  config.algorithms[static_cast<std::size_t>(Collective::allreduce)] = "ring";
  const CollectiveCall call{.collective = Collective::allreduce,
                            .ranks = 4,
                            .bytes = 1 << 20,
                            .operation = {.element_bytes = 8, .commutative = false}};
  EXPECT_STREQ(collectives::select(call, config).name, "recursive_doubling");
}

TEST(Select, FindsOneForEveryCall) {
  const Config config = caller_config();
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const int ranks : {1, 2, 3, 100, 1'000'000})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 14, std::size_t{1} << 40})
        for (const bool commutative : {false, true}) {
          const core::NodeMap nodes = core::NodeMap::regular(ranks, 16);
          const CollectiveCall call{.collective = static_cast<Collective>(i),
                                    .ranks = ranks,
                                    .nodes = commutative == (ranks > 16) ? &nodes : nullptr,
                                    .bytes = bytes,
                                    .operation = {.commutative = commutative}};
          const Algorithm& selected = collectives::select(call, config);
          EXPECT_TRUE(selected.restriction.allows(call));
          EXPECT_FALSE(selected.teaches) << selected.name << " is there to teach, and chosen by name only";
        }
}

// Of a grid of calls, by FNV-1a over the names of what is chosen: what the built-in rules say of flat communicators is
// what was measured, and changes only on purpose.
TEST(Select, ChoosesWhatWasMeasured) {
  struct Expected {
    Collective collective;
    std::uint64_t digest;
  };
  constexpr Expected kExpected[] = {
      {Collective::barrier, 0xecc5efc46df27685u},        {Collective::bcast, 0x7ddcf7ef37be5261u},
      {Collective::reduce, 0x3d66aacc187e30bbu},         {Collective::allreduce, 0x23eeebb6e25a3915u},
      {Collective::gather, 0xb49c6aba339e283du},         {Collective::gatherv, 0x0c0fb80e82b7cbc5u},
      {Collective::scatter, 0xef3db58c274ca48du},        {Collective::scatterv, 0x0c0fb80e82b7cbc5u},
      {Collective::allgather, 0x6a8c574de3302f39u},      {Collective::allgatherv, 0x36d3164927d9d969u},
      {Collective::alltoall, 0x433b106c50fe0ca1u},       {Collective::alltoallv, 0x0c0fb80e82b7cbc5u},
      {Collective::reduce_scatter, 0x62358245d5722877u}, {Collective::scan, 0x76a0a5acf3954c7du},
      {Collective::exscan, 0x76a0a5acf3954c7du},
  };
  static_assert(std::size(kExpected) == kCollectives);
  const Config config = caller_config();
  for (const Expected& expected : kExpected) {
    std::uint64_t digest = 0xcbf29ce484222325u;
    for (const int ranks : {1, 2, 3, 4, 5, 8, 9, 16, 17, 64, 65, 128, 1000, 1024, 100000})
      for (std::size_t power = 0; power < 26; ++power)
        for (const std::size_t more : {0u, 1u})
          for (const bool one_node : {false, true})
            for (const bool commutative : {false, true}) {
              const CollectiveCall call{.collective = expected.collective,
                                        .ranks = ranks,
                                        .one_node = one_node,
                                        .bytes = (std::size_t{1} << power) + more,
                                        .operation = {.commutative = commutative}};
              for (const char c : std::string_view(collectives::select(call, config).name))
                digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
            }
    EXPECT_EQ(digest, expected.digest) << to_string(expected.collective);
  }
}

// Long data on a node with fewer processors than ranks, and on one with as many.
TEST(Select, TakesLessWorkOnCrowdedNodes) {
  constexpr ChosenThere kExpected[] = {
      {Collective::bcast, 4, 256 << 10, "linear", "chain"},
      {Collective::bcast, 4, 1 << 20, "linear", "chain"},
      {Collective::bcast, 8, 128 << 10, "linear", "chain"},
      {Collective::bcast, 8, 256 << 10, "linear", "chain"},
      {Collective::bcast, 9, 256 << 10, "binary", "binary"},
      {Collective::reduce, 4, 64 << 10, "binomial", "chain"},
      {Collective::reduce, 8, 16 << 10, "linear", "binomial"},
      {Collective::reduce, 8, 64 << 10, "binomial", "rabenseifner"},
      {Collective::reduce, 8, 256 << 10, "chain", "rabenseifner"},
      {Collective::reduce, 9, 256 << 10, "rabenseifner", "rabenseifner"},
      {Collective::allreduce, 4, 16 << 10, "split", "recursive_doubling"},
      {Collective::allreduce, 4, 512 << 10, "rabenseifner", "rabenseifner"},
      {Collective::allreduce, 4, 1 << 20, "ring", "ring"},
      {Collective::allreduce, 8, 4 << 10, "recursive_doubling", "recursive_doubling"},
      {Collective::allreduce, 8, 16 << 10, "split", "recursive_doubling"},
      {Collective::allreduce, 8, 32 << 10, "ring", "rabenseifner"},
      {Collective::allreduce, 8, 128 << 10, "split", "rabenseifner"},
      {Collective::allreduce, 8, 1 << 20, "ring", "ring"},
      {Collective::reduce_scatter, 4, 256 << 10, "direct", "direct"},
      {Collective::reduce_scatter, 8, 16 << 10, "direct", "recursive_halving"},
      {Collective::reduce_scatter, 8, 1 << 20, "ring", "direct"},
      {Collective::reduce_scatter, 8, 4 << 20, "direct", "direct"},
      {Collective::allgather, 3, 256 << 10, "linear", "ring"},
      {Collective::allgather, 8, 256 << 10, "linear", "ring"},
      {Collective::alltoall, 8, 256 << 10, "linear", "pairwise"},
  };
  expect_choices(kExpected, &CollectiveCall::crowded, true);
}

// Ranks that share processors pay for each segment with a change from rank to rank.
TEST(Select, CutsLongVectorsByWhereTheyGo) {
  struct Expected {
    Collective collective;
    const char* algorithm;
    std::size_t anywhere;
    std::size_t on_a_node;
    std::size_t crowded;
  };
  constexpr Expected kExpected[] = {
      {Collective::bcast, "binomial", 0, 0, 0},
      {Collective::bcast, "chain", 64 << 10, 16 << 10, 16 << 10},
      {Collective::bcast, "linear", 0, 0, 32 << 10},
      {Collective::scan, "linear", 64 << 10, 16 << 10, 0},
      {Collective::exscan, "linear", 64 << 10, 16 << 10, 0},
  };
  Config config = caller_config();
  config.segment_bytes = 64 << 10;
  const auto segment = [&config](const Expected& expected, bool one_node, bool crowded, int ranks = 4) {
    const CollectiveCall call{
        .collective = expected.collective, .ranks = ranks, .one_node = one_node, .crowded = crowded, .bytes = 1 << 20};
    return collectives::commit_options(*collectives::find_algorithm(expected.collective, expected.algorithm), call,
                                       config)
        .segment_bytes;
  };
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(std::string(to_string(expected.collective)) + " " + expected.algorithm);
    EXPECT_EQ(segment(expected, false, false), expected.anywhere);
    EXPECT_EQ(segment(expected, true, false), expected.on_a_node);
    EXPECT_EQ(segment(expected, true, true), expected.crowded);
  }
  EXPECT_EQ(segment(kExpected[2], true, true, 2), 0u) << "no message is for several ranks";
  config.segment_bytes = 0;
  for (const Expected& expected : kExpected) EXPECT_EQ(segment(expected, true, true), 0u) << "FAB_SEGMENT_BYTES=0";
}

TEST(Select, TellsHowItCameToAChoice) {
  using By = collectives::Choice::By;
  Config config = caller_config();
  CollectiveCall call{.collective = Collective::allreduce,
                      .ranks = 100,
                      .bytes = 1 << 20,
                      .operation = {.element_bytes = 8, .commutative = false}};
  config.algorithms[static_cast<std::size_t>(Collective::allreduce)] = "ring";
  collectives::Choice choice = collectives::choose(call, config);
  EXPECT_EQ(choice.by, By::first);
  ASSERT_EQ(choice.passed_over.size(), 2u) << "the variable's, and that of the rule for all sizes";
  EXPECT_EQ(choice.passed_over[0].rule, nullptr);
  EXPECT_STREQ(choice.passed_over[0].algorithm->name, "ring");
  EXPECT_STREQ(choice.passed_over[1].algorithm->name, "rabenseifner");
  call.operation.commutative = true;
  EXPECT_EQ(collectives::choose(call, config).by, By::variable);
  config.algorithms = {};
  choice = collectives::choose(call, config);
  EXPECT_EQ(choice.by, By::rule);
  EXPECT_EQ(choice.rules, &collectives::built_in_rules());
  EXPECT_EQ(choice.rule->algorithm, "rabenseifner");
}

TEST(Select, NamesTheValidAlgorithmsWhenAVariableNamesNone) {
  Config config = caller_config();
  EXPECT_NO_THROW(collectives::check_choices(config));
  config.algorithms[static_cast<std::size_t>(Collective::bcast)] = "magic";
  expect_error(Errc::configuration,
               {"FAB_ALGO_BCAST: there is no algorithm \"magic\"; valid are auto, binomial, linear, "},
               [&] { collectives::check_choices(config); });
}

}  // namespace
}  // namespace fab::test
