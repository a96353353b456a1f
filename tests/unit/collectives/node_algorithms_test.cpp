// The algorithms that know of nodes: over maps of nodes of all kinds, from any root; what they send between nodes; and
// calls of all forms whose algorithms the rules choose.
#include <gmock/gmock.h>

#include <algorithm>

#include "bindings/sim/job.h"
#include "collectives/calls/words.h"
#include "collectives/choice/select.h"
#include "collectives/start.h"
#include "support/fill.h"
#include "support/sanitizers.h"
#include "unit/collectives/collective_nodes.h"
#include "unit/collectives/collective_performance.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using collectives::Algorithm;
using collectives::CollectiveCall;

constexpr int kMostRanks = kSanitized ? 9 : 17;

/// Nodes of all kinds for a number of ranks.
std::vector<std::vector<int>> kinds_of_nodes(int ranks) {
  std::vector<std::vector<int>> kinds(6);
  for (int rank = 0; rank < ranks; ++rank) {
    kinds[0].push_back(rank / 2);
    kinds[1].push_back(rank / ((ranks + 1) / 2));         // two nodes
    kinds[2].push_back(rank % 3);                         // round robin
    kinds[3].push_back(rank < 1 ? 0 : rank < 4 ? 1 : 2);  // uneven
    kinds[4].push_back(rank % 5 == 2 ? -1 : rank);        // one rank on each, but for one node
    kinds[5].push_back(static_cast<int>(hash(static_cast<std::uint64_t>(ranks * 100 + rank)) % 4));
  }
  return kinds;
}

std::vector<Algorithm> algorithms_that_need_nodes() {
  std::vector<Algorithm> found;
  std::ranges::copy_if(collectives::algorithms(), std::back_inserter(found), needs_nodes);
  return found;
}

class NodeAlgorithms : public testing::TestWithParam<Algorithm> {
 protected:
  [[nodiscard]] static const CollectiveModel& model() { return model_of(GetParam().collective); }
  [[nodiscard]] static Config config() {
    Config result = caller_config();
    result.algorithms[static_cast<std::size_t>(GetParam().collective)] = GetParam().name;
    result.segment_bytes = 64;
    return result;
  }

  /// From every root; and other kinds of calls from one.
  [[nodiscard]] static std::vector<CollectiveShape> shapes(int ranks, const core::NodeMap& nodes) {
    const Rank root = model().has_root ? ranks * 2 / 3 : 0;
    const auto elements = static_cast<std::size_t>(model().to_each ? 3 : 2 * ranks + 1);
    std::vector<CollectiveShape> result;
    const auto add = [&](CollectiveShape shape) {
      shape.ranks = ranks;
      if (GetParam().restriction.allows({.ranks = ranks, .nodes = &nodes, .operation = operator_of(shape)}))
        result.push_back(shape);
    };
    add({.root = root, .elements = 0});
    for (Rank each = 0; each < (model().has_root ? ranks : 1); ++each) add({.root = each});
    if (!model().moves) return result;
    add({.root = root, .elements = elements, .scattered = true});
    if (model().has_in_place) add({.root = root, .elements = elements, .in_place = true});
    if (!model().combines) return result;
    const auto composition = Combination::user_composition;
    for (Rank each = 0; each < (model().has_root ? ranks : 1); ++each)
      add({.root = each, .elements = elements, .combination = composition});
    add({.root = root, .combination = composition, .in_place = true, .scattered = true});
    return result;
  }
};

TEST_P(NodeAlgorithms, DoWhatTheCollectiveSaysOnNodesOfAnyKind) {
  int performed = 0;
  for (int ranks = 3; ranks <= kMostRanks; ++ranks)
    for (const std::vector<int>& nodes : kinds_of_nodes(ranks)) {
      const core::NodeMap map = core::NodeMap::of(nodes);
      if (known(map) == nullptr || shapes(ranks, map).empty()) continue;
      SCOPED_TRACE(testing::PrintToString(nodes));
      InProcessJob job(ranks, config(), {.seed = static_cast<std::uint32_t>(ranks), .nodes = nodes});
      const auto communicators = job.communicators([](Rank) { return std::nullopt; });
      for (const CollectiveShape& shape : shapes(ranks, map)) {
        const Layout element = Layout::contiguous(shape.element_bytes);
        ASSERT_STREQ(collectives::algorithm_for(*communicators.front(), model().call(shape, 0, element)).name,
                     GetParam().name);
        ASSERT_NO_FATAL_FAILURE(perform(job, communicators, model(), shape));
        ++performed;
      }
      EXPECT_EQ(job.left_over(), 0u);
    }
  EXPECT_GT(performed, 10);
}

INSTANTIATE_TEST_SUITE_P(Registry, NodeAlgorithms, testing::ValuesIn(algorithms_that_need_nodes()),
                         [](const auto& each) {
                           return std::string(to_string(each.param.collective)) + "_" + each.param.name;
                         });

struct SentBetweenNodes {
  std::size_t messages = 0;
  std::size_t bytes = 0;
};

/// Between nodes, by all ranks.
SentBetweenNodes sent_between_nodes(const Algorithm& algorithm, const CollectiveShape& shape,
                                    const core::NodeMap& nodes) {
  const CollectiveModel& model = model_of(algorithm.collective);
  const Layout element = Layout::contiguous(shape.element_bytes);
  SentBetweenNodes sent;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    CollectiveCall call = model.call(shape, rank, element);
    call.rank = rank;
    call.ranks = shape.ranks;
    call.nodes = &nodes;
    const Schedule schedule = collectives::build(algorithm, call, {});
    for (const OperationRecord& operation : schedule.operations()) {
      if (operation.kind != OperationKind::send) continue;
      if (nodes.node_of(schedule.peers()[operation.peer]) == nodes.node_of(rank)) continue;
      ++sent.messages;
      sent.bytes += operation.bytes;
    }
  }
  return sent;
}

// What the files of the algorithms say of N = 4 nodes with m = 4 of P = 16 ranks; and less than the flat algorithm that
// the rules choose for the same call, where the ranks of a node are consecutive and where they are not.
TEST(BetweenNodes, SendFewMessagesBetweenNodes) {
  struct Row {
    Collective collective;
    const char* algorithm;
    std::size_t messages;
  };
  constexpr Row kRows[] = {
      {Collective::barrier, "leaders", 4 * 2},      {Collective::bcast, "leaders", 4 - 1},
      {Collective::reduce, "leaders", 4 - 1},       {Collective::allreduce, "leaders", 4 * 2},
      {Collective::gather, "leaders", 4 - 1},       {Collective::scatter, "leaders", 4 - 1},
      {Collective::allgather, "leaders", 4 * 2},    {Collective::allgatherv, "leaders", 4 * 2},
      {Collective::alltoall, "node_first", 16 * 3}, {Collective::reduce_scatter, "leaders", 4 * 2},
      {Collective::scan, "leaders", 4 - 1},         {Collective::exscan, "leaders", 4 - 1},
  };
  for (const bool round_robin : {false, true}) {
    std::vector<int> nodes;
    for (int rank = 0; rank < 16; ++rank) nodes.push_back(round_robin ? rank % 4 : rank / 4);
    const core::NodeMap map = core::NodeMap::of(nodes);
    for (const Row& row : kRows) {
      const CollectiveModel& model = model_of(row.collective);
      const CollectiveShape shape{
          .ranks = 16, .root = model.has_root ? 6 : 0, .elements = model.to_each ? std::size_t{64} : 1};
      const Algorithm& algorithm = *collectives::find_algorithm(row.collective, row.algorithm);
      if (!algorithm.restriction.allows({.ranks = 16, .nodes = &map, .operation = operator_of(shape)})) continue;
      SCOPED_TRACE(testing::Message() << to_string(row.collective) << ", round robin " << round_robin);
      const SentBetweenNodes sent = sent_between_nodes(algorithm, shape, map);
      EXPECT_EQ(sent.messages, row.messages);
      const Layout element = Layout::contiguous(8);
      CollectiveCall flat = model.call(shape, 0, element);
      flat.ranks = shape.ranks;
      EXPECT_LE(sent.messages, sent_between_nodes(collectives::select_by_rules(flat), shape, map).messages);
    }
  }
}

// The last node is often smaller.
TEST(BetweenNodes, SendNoMoreWhereNodesDifferInSize) {
  const core::NodeMap map = core::NodeMap::regular(14, 4);
  const auto sent = [&](Collective collective, const char* algorithm, std::size_t elements) {
    return sent_between_nodes(*collectives::find_algorithm(collective, algorithm), {.ranks = 14, .elements = elements},
                              map);
  };
  EXPECT_EQ(sent(Collective::alltoall, "node_first", 64).messages, 14u * 3);
  EXPECT_EQ(sent(Collective::alltoall, "node_first", 64).bytes, 64u * 8 * (14 * 14 - 3 * 16 - 4));
  constexpr std::size_t kElements = 1 << 17;
  EXPECT_EQ(sent(Collective::allreduce, "sliced", kElements).bytes, 4 * 2 * 3 * kElements * 8 / 4);
}

TEST(BetweenNodes, AreComparedBetweenRanks) {
  const core::NodeMap map = core::NodeMap::regular(14, 4);
  const Layout block = Layout::contiguous(8);
  CollectiveCall call = collectives::bcast_call(block, 3);
  call.nodes = &map;
  EXPECT_EQ(collectives::words_of(call, "leaders"), "bcast(root 3, 8 bytes, by leaders, on 4 nodes)");
}

TEST(BetweenNodes, SendLongVectorsOncePerNode) {
  constexpr std::size_t kElements = 1 << 17;
  const core::NodeMap map = core::NodeMap::regular(16, 4);
  const CollectiveShape shape{.ranks = 16, .elements = kElements};
  const Algorithm& sliced = *collectives::find_algorithm(Collective::allreduce, "sliced");
  const SentBetweenNodes sent = sent_between_nodes(sliced, shape, map);
  EXPECT_EQ(sent.bytes, 4 * 2 * 3 * kElements * 8 / 4) << "2 (1 - 1/N) vectors from each of N = 4 nodes";
}

/// 4 nodes of 4 ranks.
sim::Options four_nodes() {
  sim::Options options = sim::adversarial(5);
  options.model.ranks_per_node = 4;
  return options;
}

constexpr Collective kWithNodes[] = {Collective::barrier,        Collective::bcast,      Collective::reduce,
                                     Collective::allreduce,      Collective::gather,     Collective::scatter,
                                     Collective::allgather,      Collective::allgatherv, Collective::alltoall,
                                     Collective::reduce_scatter, Collective::scan,       Collective::exscan};

// Of a bcast from the leader of one of four nodes of four ranks, which sends twice across, and to one rank or to three
// within.
TEST(StepsOfAlgorithms, FollowTheRulesOfTheJob) {
  const auto sent_by_root = [](const char* within) {
    Config config = caller_config();
    config.algorithms[static_cast<std::size_t>(Collective::bcast)] = "leaders";
    config.file_rules = std::make_shared<const collectives::Rules>(collectives::Rules{
        .name = "test",
        .rows = {{.collective = Collective::bcast, .where = collectives::Where::node, .algorithm = within}}});
    sim::Job job(16, four_nodes(), config);
    std::vector<std::int64_t> values(16);
    values[0] = 7;
    const Layout block = Layout::contiguous(sizeof(std::int64_t));
    const auto outcomes =
        job.run(job.world(), [&](core::Communicator& communicator) FAB_REQUIRES(core::engine_lock) -> core::Run& {
          return collectives::start(communicator, nullptr, &values[static_cast<std::size_t>(communicator.rank())],
                                    collectives::bcast_call(block, 0));
        });
    EXPECT_EQ(sim::failures(outcomes), "");
    EXPECT_THAT(values, testing::Each(7));
    return outcomes.front().sent.messages;
  };
  EXPECT_EQ(sent_by_root("chain"), 2u + 1u);
  EXPECT_EQ(sent_by_root("linear"), 2u + 3u);
}

TEST(BetweenNodes, AreChosenByTheRulesForCallsInFlightTogether) {
  sim::Job job(16, four_nodes());
  std::vector<std::unique_ptr<Performance>> calls;
  for (const Collective collective : kWithNodes)
    for (const Rank root : {0, 6}) {
      const CollectiveModel& model = model_of(collective);
      const CollectiveShape shape{.ranks = 16, .root = model.has_root ? root : 0, .elements = 5};
      const Layout element = Layout::contiguous(8);
      EXPECT_TRUE(needs_nodes(collectives::algorithm_for(*job.world().front(), model.call(shape, 0, element))))
          << to_string(collective);
      calls.push_back(std::make_unique<Performance>(model, shape));
    }
  job.network().meet();
  for (const auto& call : calls)
    for (const auto& communicator : job.world())
      job.start(communicator, [&call](core::Communicator& its) -> core::Run& { return call->start_under_lock(its); });
  EXPECT_EQ(sim::failures(job.finish()), "");
  for (const auto& call : calls)
    for (Rank rank = 0; rank < 16; ++rank) call->check(rank);
}

TEST(BetweenNodes, ArePersistent) {
  for (const Collective collective : kWithNodes) {
    SCOPED_TRACE(to_string(collective));
    sim::Options options = four_nodes();
    options.capabilities.writes = collective != Collective::scan;
    sim::Job job(16, options);
    const CollectiveModel& model = model_of(collective);
    Performance performance(model, {.ranks = 16, .root = model.has_root ? 6 : 0, .elements = 40});
    job.network().meet();
    std::vector<core::Persistent> exchanges;
    for (const auto& communicator : job.world()) exchanges.push_back(performance.make(communicator));
    for (int start = 0; start < 3; ++start) {
      for (Rank rank = 0; rank < 16; ++rank)
        job.start(rank, exchanges[static_cast<std::size_t>(rank)], sim::Job::Pace::when_idle);
      EXPECT_EQ(sim::failures(job.finish()), "");
      for (Rank rank = 0; rank < 16; ++rank) performance.check(rank);
    }
    exchanges.clear();
  }
}

/// What ranks of a job know of its nodes.
class JobWithNodes {
 public:
  explicit JobWithNodes(std::vector<int> nodes, const Config& config = caller_config())
      : ranks_(static_cast<int>(nodes.size())), job_(ranks_, config, {.nodes = std::move(nodes)}) {}

  [[nodiscard]] std::optional<core::NodeMap> known_to(Rank rank, const std::vector<Rank>& group) {
    core::Context& context = job_.context(rank);
    const auto self = std::ranges::find(group, rank) - group.begin();
    const auto communicator = std::make_shared<core::Communicator>(context.shared_from_this(), core::Group::of(group),
                                                                   static_cast<Rank>(self), core::ContextId{0, 9});
    const core::NodeMap* nodes = communicator->nodes();
    EXPECT_EQ(nodes, communicator->nodes());
    return nodes == nullptr ? std::nullopt : std::optional(*nodes);
  }

 private:
  int ranks_;
  InProcessJob job_;
};

TEST(NodesOfACommunicator, AreThoseOfItsRanksOnAllOfThem) {
  JobWithNodes job({7, 7, 3, 3, 7, 3});
  for (const std::vector<Rank>& group : {std::vector<Rank>{0, 1, 2, 3, 4, 5}, {5, 4, 3, 1}, {0, 2, 4}})
    for (const Rank rank : group) {
      std::vector<int> nodes;
      for (const Rank member : group) nodes.push_back(member == 0 || member == 1 || member == 4 ? 7 : 3);
      EXPECT_EQ(job.known_to(rank, group), core::NodeMap::of(nodes));
    }
}

TEST(NodesOfACommunicator, AreNotKnownWhereAllOrNoneShareOneOrNothingIsShared) {
  JobWithNodes job({7, 7, 3, 3, 7, 3});
  EXPECT_EQ(job.known_to(0, {0, 1, 4}), std::nullopt) << "all share a node";
  EXPECT_EQ(job.known_to(0, {0, 2}), std::nullopt) << "none do";
  EXPECT_EQ(JobWithNodes({0, 1, 2}).known_to(0, {0, 1, 2}), std::nullopt);
  EXPECT_EQ(JobWithNodes({5, 5, 5}).known_to(0, {0, 1, 2}), std::nullopt);
  Config config = caller_config();
  config.local = false;
  EXPECT_EQ(JobWithNodes({0, 0, 1, 1}, config).known_to(0, {0, 1, 2, 3}), std::nullopt) << "FAB_LOCAL=off";
}

}  // namespace
}  // namespace fab::test
