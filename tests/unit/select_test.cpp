// The registry, and the selection of algorithms.
#include "collectives/select.h"

#include <gmock/gmock.h>

#include <set>

#include "unit/expect_error.h"
#include "unit/recording_rig.h"

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
