// What the ranks of a node share: times against formulas.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "bindings/sim/job.h"
#include "providers/sim/predict.h"
#include "unit/support/expect_error.h"

namespace fab::sim {
namespace {

using test::expect_error;
using testing::ElementsAre;

constexpr int kPerNode = 4;
constexpr int kCardGap = 30;

/// L 1000, o 100, g 50, a byte in a nanosecond.
Model model_of_nodes(const Share& card, const Share& memory = {}) {
  Model model = uniform_model({nanoseconds(1000), nanoseconds(100), nanoseconds(50), nanoseconds(1024)});
  model.ranks_per_node = kPerNode;
  model.card = card;
  model.memory = memory;
  return model;
}

struct Sent {
  Rank from;
  Rank to;
  std::size_t bytes;
};

/// All messages at once, those of a rank in order; receives are posted at once, too.
Schedule at_once(Rank self, int ranks, const std::vector<Sent>& messages) {
  ScheduleBuilder builder("at_once", ranks);
  std::uint32_t slot = 0;
  for (const Sent& each : messages) {
    const Block block{BufferId::recv, 0, Layout::contiguous(each.bytes)};
    if (each.to == self) builder.recv(each.from, slot, block);
    if (each.from == self) builder.send(each.to, slot, block);
    ++slot;
  }
  return builder.commit();
}

std::vector<std::int64_t> message_ends(const Model& model, int ranks, const std::vector<Sent>& messages) {
  std::vector<std::int64_t> ends;
  for (const Prediction& each :
       predict(model, ranks, [&](Rank rank) { return at_once(rank, ranks, messages); }, {.inject_bytes = 0}))
    ends.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(each.end).count());
  return ends;
}

// The card serves rank i after i gaps.
TEST(Shares, ShortMessagesOfANodeThatLeaveAtOnceTakeAGapEach) {
  const Model model = model_of_nodes({nanoseconds(kCardGap), Time{}});
  EXPECT_THAT(message_ends(model, 8, {{0, 4, 1}, {1, 5, 1}, {2, 6, 1}, {3, 7, 1}}),
              ElementsAre(100, 130, 160, 190, 1200, 1230, 1260, 1290));
}

TEST(Shares, ShortMessagesToANodeThatComeAtOnceTakeAGapEach) {
  const Model model = model_of_nodes({nanoseconds(kCardGap), Time{}});
  EXPECT_THAT(message_ends(model, 20, {{4, 0, 1}, {8, 1, 1}, {12, 2, 1}, {16, 3, 1}}),
              ElementsAre(1200, 1230, 1260, 1290, 100, 0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0));
}

TEST(Shares, DirectionsOfACardAreIndependent) {
  const Model model = model_of_nodes({nanoseconds(kCardGap), Time{}});
  EXPECT_THAT(message_ends(model, 8, {{0, 4, 1}, {4, 0, 1}}), ElementsAre(1200, 0, 0, 0, 1200, 0, 0, 0));
}

TEST(Shares, MessagesWithinANodeDoNotNeedTheCard) {
  const Model model = model_of_nodes({nanoseconds(kCardGap), Time{}});
  EXPECT_THAT(message_ends(model, 4, {{0, 1, 1}, {2, 3, 1}}), ElementsAre(100, 1200, 100, 1200));
}

// Max-rate: k ranks that send 1001 B each, for 1000 ns by their ports, over a card that takes 400 ns for each. The last
// one leaves (k - 1) 400 after the first: the node's rate is the smaller one of k ports' and the card's.
TEST(Shares, LongMessagesOfANodeHaveTheSmallerRateOfPortsAndCard) {
  const Model model = model_of_nodes({Time{}, Time(409'600)});
  const std::vector<Sent> all = {{0, 4, 1001}, {1, 5, 1001}, {2, 6, 1001}, {3, 7, 1001}};
  for (const std::size_t k : {1u, 2u, 3u, 4u}) {
    const std::vector<Sent> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
    const auto ends = message_ends(model, 8, some);
    EXPECT_EQ(*std::ranges::max_element(ends), 100 + 1000 + 400 * static_cast<std::int64_t>(k - 1) + 1000 + 100) << k;
  }
}

// Rank 0's second message waits for its own port until 1150, and the card serves rank 1 meanwhile.
TEST(Shares, ALongQueueOfOneRankHoldsUpNoOther) {
  const Model model = model_of_nodes({nanoseconds(kCardGap), Time{}});
  const auto ends = message_ends(model, 8, {{0, 4, 1001}, {0, 4, 1001}, {0, 4, 1001}, {1, 5, 1}});
  EXPECT_EQ(ends[1], 100 + kCardGap);
  EXPECT_EQ(ends[0], 100 + 3 * 1000 + 2 * 50);
}

// Each message occupies the memory for 2000.
TEST(Shares, MessagesWithinANodeShareItsMemory) {
  const Model model = model_of_nodes({}, {Time{}, nanoseconds(2048)});
  EXPECT_THAT(message_ends(model, 4, {{0, 1, 1001}, {2, 3, 1001}}), ElementsAre(1100, 2200, 3100, 4200));
  EXPECT_THAT(message_ends(model, 8, {{0, 1, 1001}, {2, 4, 1001}}), ElementsAre(1100, 2200, 1100, 0, 2200, 0, 0, 0));
}

TEST(Shares, CardsWithoutCostChangeNothing) {
  const Model free = model_of_nodes({});
  const Model cheap = model_of_nodes({Time(1), Time{}});
  const std::vector<Sent> messages = {{0, 4, 1001}, {4, 1, 70'000}, {1, 2, 500}, {2, 0, 3}, {5, 6, 100'000}};
  EXPECT_EQ(message_ends(cheap, 8, messages), message_ends(free, 8, messages));
}

TEST(Shares, AreOfModelsWhoseCardsPay) {
  Model model = model_of_nodes({nanoseconds(kCardGap), Time{}});
  model.far.receiver_pays = Payer::processor;
  expect_error(Errc::invalid_argument, {"only cards that pay can be shared"}, [&] {
    (void)message_ends(model, 8, {{0, 4, 1}});
  });
}

// A message that waits for the card goes with its sender if the sender must keep it, and arrives otherwise.
TEST(Shares, MessagesThatWaitEndWithTheirRanks) {
  for (const bool receiver_dies : {false, true}) {
    Options options;
    options.model = model_of_nodes({nanoseconds(1'000'000), Time{}});
    options.model.eager_bytes = 0;
    options.deaths = {{.rank = receiver_dies ? 5 : 1, .at = nanoseconds(10'000)}};
    Job job(8, options);
    std::vector<std::byte> memory(4096);
    const auto outcomes = job.run(job.world(), [&](core::Communicator& communicator) -> core::Run& {
      const Schedule schedule = at_once(communicator.rank(), 8, {{0, 4, 1000}, {1, 5, 1000}});
      core::engine_lock.assert_held();
      return communicator.start(std::make_unique<core::RunPool>(communicator, schedule),
                                std::vector<std::byte*>{memory.data(), memory.data()});
    });
    for (const Outcome& each : outcomes) {
      EXPECT_TRUE(each.ended) << each.rank;
      EXPECT_EQ(each.ok(), each.rank != 1 && each.rank != 5) << each.rank;
    }
  }
}

TEST(Shares, AreReadFromNetworkFiles) {
  const Model model = parse_model(R"({"node_card": {"g_ns": 5, "G_ns_per_byte": 0.08},
                                      "node_memory": {"G_ns_per_byte": 0.5}, "description": "one", "sources": ["two"]})",
                                  "file");
  EXPECT_EQ(model.card.gap, nanoseconds(5));
  EXPECT_EQ(model.card.gap_per_kib, Time(81'920));
  EXPECT_EQ(model.memory.gap_per_kib, nanoseconds(512));
  EXPECT_EQ(to_json(parse_model(to_json(model), "again")), to_json(model));
  EXPECT_FALSE(parse_model("{}", "old").shares());
  expect_error(Errc::invalid_argument, {"net.json: node_card has g_ns = -1; a number from 0 to "},
               [] { (void)parse_model(R"({"node_card": {"g_ns": -1}})", "net.json"); });
  expect_error(Errc::invalid_argument, {"net.json has sources = 3; text is valid"},
               [] { (void)parse_model(R"({"sources": 3})", "net.json"); });
}

}  // namespace
}  // namespace fab::sim
