// From costs to rules.
#include "bindings/tools/tune_rules.h"

#include <gmock/gmock.h>

#include "bindings/tools/worth_copying.h"

namespace fab::tools {
namespace {

using collectives::kAnyBytes;
using collectives::kAnyRanks;
using collectives::Rule;
using collectives::Where;

/// Costs of "binomial" and "chain", for each number of ranks and each size.
TuneGrid grid_of(std::vector<int> ranks, std::vector<std::size_t> bytes,
                 const std::vector<std::vector<std::pair<double, double>>>& costs) {
  TuneGrid grid{.collective = Collective::bcast,
                .least_per_node = 4,
                .where = Where::nodes,
                .ranks = std::move(ranks),
                .bytes = std::move(bytes),
                .candidates = {}};
  for (const auto& row : costs) {
    grid.candidates.emplace_back();
    for (const auto& [binomial, chain] : row)
      grid.candidates.back().push_back({{"binomial", {binomial}}, {"chain", {chain}}});
  }
  return grid;
}

Rule rule(std::size_t most_bytes, int most_ranks, const char* algorithm) {
  return {Collective::bcast, most_bytes, most_ranks, 4, Where::nodes, algorithm};
}

std::vector<Rule> rules(const TuneGrid& grid, double within = 1) {
  return rules_of(grid, choose_algorithms(grid, within));
}

TEST(WorthCopying, EndsWhereTheOtherWayWinsAtTwoLengthsInTurn) {
  const auto longest = [](std::vector<WayTimes> times) { return longest_worth_copying(times, 1.05); };
  EXPECT_EQ(longest({{1024, 1, 2}, {2048, 2, 2}, {4096, 4, 2}, {8192, 8, 2}}), 2048u);
  EXPECT_EQ(longest({{1024, 1, 2}, {2048, 3, 2}, {4096, 2, 2}, {8192, 8, 2}}), 4096u) << "one slow batch";
  EXPECT_EQ(longest({{1024, 1, 2}, {2048, 2.09, 2}, {4096, 2.09, 2}}), 4096u) << "within 5 %";
  EXPECT_EQ(longest({{1024, 3, 2}, {2048, 3, 2}}), 0u);
  EXPECT_EQ(longest({}), 0u);
}

TEST(TuneRules, AnAlgorithmThatIsAlwaysBestIsOneRule) {
  TuneGrid grid = grid_of({8, 16}, {4, 16}, {{{1, 2}, {1, 2}}, {{1, 2}, {1, 2}}});
  EXPECT_THAT(rules(grid), testing::ElementsAre(rule(kAnyBytes, kAnyRanks, "binomial")));
  grid.bounded = true;
  EXPECT_THAT(rules(grid), testing::ElementsAre(rule(16, kAnyRanks, "binomial")));
}

TEST(TuneRules, SizesBelongToTheNearerOneAndRanksToTheNextAbove) {
  const TuneGrid grid =
      grid_of({8, 16, 32}, {4, 16, 64}, {{{1, 2}, {1, 2}, {2, 1}}, {{1, 2}, {2, 1}, {2, 1}}, {{1, 2}, {2, 1}, {2, 1}}});
  EXPECT_THAT(rules(grid), testing::ElementsAre(rule(32, 8, "binomial"), rule(kAnyBytes, 8, "chain"),
                                                rule(8, kAnyRanks, "binomial"), rule(kAnyBytes, kAnyRanks, "chain")));
}

TEST(TuneRules, ASizeKeepsTheAlgorithmOfTheSmallerOneIfThatIsHardlyWorse) {
  const TuneGrid grid = grid_of({8}, {4, 16, 64}, {{{1, 2}, {1.02, 1}, {1.5, 1}}});
  EXPECT_THAT(rules(grid, 1.03),
              testing::ElementsAre(rule(32, kAnyRanks, "binomial"), rule(kAnyBytes, kAnyRanks, "chain")));
  EXPECT_THAT(rules(grid, 1.01),
              testing::ElementsAre(rule(8, kAnyRanks, "binomial"), rule(kAnyBytes, kAnyRanks, "chain")));
}

// 1 and 1.5 on one network, 4 and 2 on the other: the ratios' products are 1 * 2 and 1.5 * 1.
TEST(TuneRules, NetworksCountByTheirRatios) {
  TuneGrid grid = grid_of({8}, {4}, {{{0, 0}}});
  grid.candidates[0][0] = {{"binomial", {1, 4}}, {"chain", {1.5, 2}}};
  EXPECT_EQ(rules(grid).front().algorithm, "chain");
}

TEST(TuneRules, WhatIsNotKnownLosesByItsBoundOrLeavesTheChoiceToFewerRanks) {
  TuneGrid grid = grid_of({8, 16}, {4}, {{{2, 1}}, {{2, 3}}});
  grid.candidates[1][0][1].known = false;  // at least 3
  EXPECT_EQ(choose_algorithms(grid, 1), (std::vector<std::vector<std::string>>{{"chain"}, {"binomial"}}));
  grid.candidates[1][0][1].costs = {1.5};
  EXPECT_EQ(choose_algorithms(grid, 1), (std::vector<std::vector<std::string>>{{"chain"}, {"chain"}}));
  grid.candidates[0][0][0] = {"binomial", {0}, false};
  EXPECT_EQ(choose_algorithms(grid, 1).front(), std::vector<std::string>{""});
  EXPECT_TRUE(rules_of(grid, {{""}, {""}}).empty());
  grid.candidates[0][0][0] = {"binomial", {2}};
  grid.candidates[1][0][0].known = false;
  EXPECT_EQ(choose_algorithms(grid, 1), (std::vector<std::vector<std::string>>{{"chain"}, {"chain"}}));
}

TEST(TuneRules, TheSourceHasARowForEachRule) {
  const std::string source = to_source({rule(32, 8, "binomial"), rule(kAnyBytes, kAnyRanks, "chain")}, "fab_tune x");
  EXPECT_THAT(source, testing::HasSubstr("//   fab_tune x\n"));
  EXPECT_THAT(source,
              testing::HasSubstr("    {Collective::bcast, 32, 8, \"binomial\", Where::nodes, 4},\n"
                                 "    {Collective::bcast, kAnyBytes, kAnyRanks, \"chain\", Where::nodes, 4},\n"));
}

}  // namespace
}  // namespace fab::tools
