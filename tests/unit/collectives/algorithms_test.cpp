// Every algorithm of the registry against the oracle, over the unkind fabric: rank counts, sizes, roots, operations,
// buffers in place and in pieces.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bindings/sim/job.h"
#include "collectives/choice/registry.h"
#include "support/sanitizers.h"
#include "unit/collectives/collective_nodes.h"
#include "unit/collectives/collective_performance.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using collectives::Algorithm;

const std::vector<int> kRankCounts =
    kSanitized ? std::vector{1, 2, 3, 4, 5, 7, 8, 13, 16}
               : std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 64};
const std::vector<int> kRankCountsOfLongVectors = kSanitized ? std::vector{3, 5, 8} : std::vector{2, 3, 5, 8};
constexpr std::size_t kLongBytes = kSanitized ? 65544 : 300'000;

class Algorithms : public testing::TestWithParam<Algorithm> {
 protected:
  static constexpr std::size_t kSegmentBytes = 256;

  [[nodiscard]] static const CollectiveModel& model() { return model_of(GetParam().collective); }

  [[nodiscard]] static Config config(bool check = false) {
    Config result = caller_config();
    result.algorithms[static_cast<std::size_t>(GetParam().collective)] = GetParam().name;
    result.segment_bytes = kSegmentBytes;
    result.check = check;
    return result;
  }
  [[nodiscard]] static InProcessJob job(int ranks, std::uint32_t seed, bool check = false) {
    return {ranks,
            config(check),
            {.seed = seed,
             .directed_receive = seed % 2 == 0,
             .inject_bytes = seed % 3 == 0 ? 4096u : 16u,
             .nodes = nodes_for(GetParam(), ranks)}};
  }

  [[nodiscard]] static bool allows(const CollectiveShape& shape) {
    const auto nodes = core::NodeMap::of(nodes_for(GetParam(), shape.ranks));
    return GetParam().restriction.allows(
        {.ranks = shape.ranks, .nodes = known(nodes), .operation = operator_of(shape)});
  }

  /// Every kind of call that the collective has, for a number of elements.
  [[nodiscard]] static std::vector<CollectiveShape> shapes(int ranks, Rank root, std::size_t elements) {
    std::vector<CollectiveShape> result;
    const auto add = [&](CollectiveShape shape) {
      shape.ranks = ranks;
      shape.root = root;
      shape.elements = elements;
      if (allows(shape)) result.push_back(shape);
    };
    add({});
    if (!model().moves) return result;
    add({.scattered = true});
    if (model().has_in_place) add({.in_place = true});
    if (!model().combines) {
      add({.element_bytes = 1});
      return result;
    }
    add({.combination = Combination::user_composition, .in_place = true});
    add({.combination = Combination::user_composition, .scattered = true});
    add({.combination = Combination::user_sum, .in_place = true, .scattered = true});
    return result;
  }

  /// All where ranks are few, some others for every larger number.
  [[nodiscard]] static std::vector<CollectiveShape> some(std::vector<CollectiveShape> all, int ranks,
                                                         std::size_t elements) {
    if (ranks <= 8) return all;
    std::size_t number = static_cast<std::size_t>(ranks) + elements;
    std::erase_if(all, [&](const CollectiveShape&) { return ++number % 3 != 0; });
    return all;
  }

  [[nodiscard]] static std::vector<Rank> roots(int ranks) {
    if (!model().has_root) return {0};
    if (ranks > 8) return {ranks * 2 / 3};
    std::vector<Rank> result{0, ranks / 2, ranks - 1};
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }
};

TEST_P(Algorithms, DoWhatTheCollectiveSays) {
  for (const int ranks : kRankCounts) {
    if (!allows({.ranks = ranks})) continue;
    InProcessJob its = job(ranks, static_cast<std::uint32_t>(ranks));
    const auto communicators = its.communicators([](Rank) { return std::nullopt; });
    for (const Rank root : roots(ranks))
      for (const std::size_t elements : {std::size_t{1}, model().to_each ? 4 : static_cast<std::size_t>(ranks + 1)})
        for (const CollectiveShape& shape : some(shapes(ranks, root, elements), ranks, elements))
          ASSERT_NO_FATAL_FAILURE(perform(its, communicators, model(), shape));
    EXPECT_EQ(its.left_over(), 0u);
  }
}

// Nothing, less than one element a rank, one segment and a bit, more segments than ranks, packed and unpacked messages.
TEST_P(Algorithms, OfAllSizes) {
  for (const int ranks : {1, 2, 3, 4, 6, 8, 11}) {
    if (!allows({.ranks = ranks})) continue;
    InProcessJob its = job(ranks, static_cast<std::uint32_t>(100 + ranks));
    const auto communicators = its.communicators([](Rank) { return std::nullopt; });
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, kSegmentBytes, kSegmentBytes + 8,
                                    10 * kSegmentBytes, std::size_t{4096}, std::size_t{4104}, std::size_t{9000}})
      for (const CollectiveShape& shape : shapes(ranks, ranks - 1, bytes / 8))
        ASSERT_NO_FATAL_FAILURE(perform(its, communicators, model(), shape));
    EXPECT_EQ(its.left_over(), 0u);
  }
}

// Messages of two parts, more segments than there are slots, and checked calls; on 8 ranks what cannot be on 5.
TEST_P(Algorithms, OfLongVectors) {
  for (const int ranks : kRankCountsOfLongVectors) {
    if (!allows({.ranks = ranks}) || (ranks == 8 && allows({.ranks = 5}))) continue;
    InProcessJob its = job(ranks, static_cast<std::uint32_t>(200 + ranks), true);
    const auto communicators = its.communicators([](Rank) { return std::nullopt; });
    const std::size_t longest = model().to_each ? std::min(kLongBytes, std::size_t{70'000}) : kLongBytes;
    for (const std::size_t bytes : std::set{std::size_t{65536}, std::size_t{65544}, longest})
      for (const CollectiveShape& shape : shapes(ranks, 0, bytes / 8))
        ASSERT_NO_FATAL_FAILURE(perform(its, communicators, model(), shape));
    EXPECT_EQ(its.left_over(), 0u);
  }
}

TEST_P(Algorithms, SeveralInFlightOnTwoCommunicatorsInDifferentOrders) {
  constexpr int kRanks = 5;
  InProcessJob its = job(kRanks, 7);
  std::vector<InProcessJob::Communicators> both;
  for (int i = 0; i < 2; ++i) both.push_back(its.communicators([](Rank) { return std::nullopt; }));
  std::vector<std::unique_ptr<Performance>> calls;
  for (std::size_t i = 0; i < 8; ++i)
    calls.push_back(std::make_unique<Performance>(
        model(),
        CollectiveShape{
            .ranks = kRanks, .root = model().has_root ? static_cast<Rank>(i % kRanks) : 0, .elements = 3 + 40 * i}));
  std::vector<core::Run*> runs;
  for (Rank rank = 0; rank < kRanks; ++rank)
    for (std::size_t i = 0; i < calls.size(); ++i) {
      // The first four calls are of the first communicator; odd ranks begin with the second.
      const std::size_t which = rank % 2 == 1 ? (i + 4) % 8 : i;
      runs.push_back(&calls[which]->start(*both[which / 4][static_cast<std::size_t>(rank)]));
    }
  ASSERT_NO_FATAL_FAILURE(its.finish(runs));
  for (core::Run* run : runs) {
    const Status status = release(*run);
    EXPECT_TRUE(status.ok()) << status.message;
  }
  for (Rank rank = 0; rank < kRanks; ++rank)
    for (const auto& call : calls) call->check(rank);
}

// A rank dies when it wants to send its first message, or a later one. Each rank that waits for it, even
// indirectly, gets an error that names it; a rank without an error has the right result.
TEST_P(Algorithms, EndWithAnErrorThatNamesTheDead) {
  int failed = 0;
  for (const int ranks : {2, 5, 8, 13}) {
    const CollectiveShape shape{.ranks = ranks, .elements = 100};
    if (!allows(shape)) continue;
    for (const Rank dead : {0, ranks / 2, ranks - 1})
      for (const std::uint32_t messages : {0u, 1u, 3u}) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks; rank " << dead << " dies after " << messages);
        sim::Options options = sim::adversarial(static_cast<std::uint32_t>(ranks) + messages);
        options.capabilities.early_messages_block = messages == 1;
        options.capabilities.directed_receive = options.capabilities.takes_longer_messages = messages != 1;
        if (needs_nodes(GetParam())) options.model.ranks_per_node = 3;
        options.deaths = {{.rank = dead, .after_messages = messages}};
        sim::Job its(ranks, options, config());
        Performance performance(model(), shape);
        const auto outcomes = its.run(its.world(), [&](core::Communicator& communicator) -> core::Run& {
          return performance.start_under_lock(communicator);
        });
        for (const sim::Outcome& outcome : outcomes) {
          if (outcome.rank == dead) continue;
          ASSERT_TRUE(outcome.ended) << "rank " << outcome.rank << ": " << outcome.status.message;
          if (outcome.ok()) {
            performance.check(outcome.rank);
            continue;
          }
          ++failed;
          EXPECT_EQ(outcome.status.errc(), Errc::unreachable);
          EXPECT_THAT(outcome.status.message, testing::HasSubstr("rank " + std::to_string(dead)))
              << "rank " << outcome.rank;
        }
      }
  }
  EXPECT_GT(failed, 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, Algorithms,
                         testing::ValuesIn(collectives::algorithms().begin(), collectives::algorithms().end()),
                         [](const auto& each) {
                           return std::string(to_string(each.param.collective)) + "_" + each.param.name;
                         });

}  // namespace
}  // namespace fab::test
