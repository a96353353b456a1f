// Collectives on the simulated network: what arrives, what it costs by LogGP, and what faults do.
#include <gmock/gmock.h>

#include <bit>

#include "bindings/sim/job.h"
#include "collectives/start.h"
#include "core/statistics/page.h"
#include "support/sanitizers.h"
#include "unit/support/patterns.h"

namespace fab::sim {
namespace {

using std::chrono::microseconds;
using test::Ring;
using test::Tree;
using testing::HasSubstr;

constexpr Time kL = std::chrono::nanoseconds(1000);
constexpr Time kO = std::chrono::nanoseconds(100);
constexpr Time kGap = std::chrono::nanoseconds(300);
constexpr std::int64_t kByteNs = 2;

/// L = 1000 ns, o = 100 ns, g = 300 ns, G = 2 ns.
Options uniform() {
  Options options;
  options.model = uniform_model({kL, kO, kGap, nanoseconds(kByteNs * 1024)});
  options.capabilities.inject_bytes = 0;
  return options;
}

Time stretch(std::int64_t bytes) { return std::chrono::nanoseconds(kByteNs * (bytes - 1)); }

/// Has the pattern start on a communicator.
template <class Pattern>
Job::Start starting(Pattern& pattern) {
  return [&pattern](core::Communicator& communicator) -> core::Run& { return pattern.start(communicator); };
}

TEST(SimulatedJob, AMessageCostsWhatLogGpSays) {
  for (const std::int64_t bytes : {1, 1000, 60'000}) {
    Job job(2, uniform());
    Tree tree(2, 0, static_cast<std::size_t>(bytes));
    const auto outcomes = job.run(job.world(), starting(tree));
    EXPECT_EQ(failures(outcomes), "");
    EXPECT_EQ(tree.wrong(), -1);
    EXPECT_EQ(outcomes[0].begin, Time{});
    EXPECT_EQ(outcomes[1].end, kO + stretch(bytes) + kL + kO);
    EXPECT_EQ(outcomes[0].end, kO + stretch(bytes)) << "the last byte has left";
    EXPECT_EQ(outcomes[0].sent.messages, 1u);
    EXPECT_EQ(outcomes[0].sent.bytes, static_cast<std::uint64_t>(bytes));
    EXPECT_EQ(outcomes[1].received.bytes, static_cast<std::uint64_t>(bytes));
    EXPECT_EQ(outcomes[1].sent.messages, 0u);
  }
}

TEST(SimulatedJob, LongSendsEndWhenTheyAreReceived) {
  Options options = uniform();
  options.model.eager_bytes = 999;
  Job job(2, options);
  Tree tree(2, 0, 1000);
  const auto outcomes = job.run(job.world(), starting(tree));
  EXPECT_EQ(outcomes[0].end, kO + stretch(1000) + kL);
}

// The second child hears g + (k - 1) G after the first; the root's processor is free long before.
TEST(SimulatedJob, APortSendsOneMessageAfterTheOther) {
  Job job(3, uniform());
  Tree tree(3, 0, 100);
  const auto outcomes = job.run(job.world(), starting(tree));
  EXPECT_EQ(outcomes[1].end, kO + stretch(100) + kL + kO);
  EXPECT_EQ(outcomes[2].end, outcomes[1].end + kGap + stretch(100));
}

TEST(SimulatedJob, APortTakesOneMessageAfterTheOther) {
  Job job(3, uniform());
  Ring ring(3, 50);
  const auto outcomes = job.run(job.communicators(), starting(ring));
  EXPECT_EQ(failures(outcomes), "");
  EXPECT_EQ(ring.wrong(), -1);
  // Both messages of a rank leave 300 + 98 ns apart, and come from two senders at the same times.
  const Time last_byte = kO + kGap + stretch(50) + kL + stretch(50);
  for (const Outcome& outcome : outcomes) {
    EXPECT_GE(outcome.end, last_byte + kO);
    EXPECT_LE(outcome.end, last_byte + kGap + stretch(50) + 2 * kO);
  }
}

TEST(SimulatedJob, LinkClassesFollowTheMachine) {
  Options options = uniform();
  Model& model = options.model;
  model.ranks_per_node = 2;
  model.nodes_per_switch = 2;
  model.same_node.latency = microseconds(1);
  model.same_switch.latency = microseconds(10);
  model.far.latency = microseconds(100);
  for (const auto& [rank, latency] : {std::pair{1, microseconds(1)},
                                      {2, microseconds(10)},
                                      {3, microseconds(10)},
                                      {4, microseconds(100)},
                                      {5, microseconds(100)}}) {
    Job job(6, options);
    EXPECT_EQ(job.context(rank).job().node_ranks.front(), rank / 2 * 2);
    EXPECT_EQ(job.context(rank).job().node_count, 3);
    const auto outcomes = job.run(job.world(), [rank = rank](core::Communicator& communicator) -> core::Run& {
      static std::byte memory{};
      const std::vector<std::byte*> bases{&memory, &memory};
      ScheduleBuilder builder("one message", 6);
      if (communicator.rank() == 0) builder.send(rank, 0, {BufferId::send, 0, Layout::contiguous(1)});
      if (communicator.rank() == rank) builder.recv(0, 0, {BufferId::recv, 0, Layout::contiguous(1)});
      core::engine_lock.assert_held();
      return communicator.start(std::make_unique<core::RunPool>(communicator, builder.commit()), bases);
    });
    EXPECT_EQ(failures(outcomes), "");
    EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].end, latency + 2 * kO) << rank;
  }
}

// Binary tree: each level costs the second child g more than the first.
TEST(SimulatedJob, ThousandsOfRanksTakeALogarithmicTime) {
  constexpr int kRanks = test::kSanitized ? 256 : 4096;
  Job job(kRanks, uniform());
  Tree tree(kRanks, 5, 8);
  const auto outcomes = job.run(job.world(), starting(tree));
  EXPECT_EQ(failures(outcomes), "");
  EXPECT_EQ(tree.wrong(), -1);
  const Time message = kO + stretch(8) + kL + kO;
  constexpr int kLevels = std::bit_width(static_cast<unsigned>(kRanks)) - 1;
  EXPECT_GE(duration(outcomes), kLevels * message);
  EXPECT_LE(duration(outcomes), kLevels * (message + kGap + stretch(8)));
  EXPECT_EQ(job.network().messages(), static_cast<std::uint64_t>(kRanks - 1));
  Ring ring(kRanks, 200);
  const auto exchange = job.run(job.communicators(), starting(ring));
  EXPECT_EQ(failures(exchange), "");
  EXPECT_EQ(ring.wrong(), -1);
  EXPECT_LE(duration(exchange), 3 * message + microseconds(2)) << "no rank waits for more than its neighbours";
  EXPECT_EQ(job.network().left_over(), 0u);
}

TEST(SimulatedJob, UnkindNetworksChangeNothingButTimes) {
  for (const int ranks : {1, 2, 3, 5, 8, 17})
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      Options options = adversarial(seed);
      options.capabilities.directed_receive = seed % 2 == 0;
      options.capabilities.takes_longer_messages = seed % 3 == 0;
      options.capabilities.iov_limit = seed;
      options.capabilities.early_messages_block = seed == 5;
      options.ordered = seed == 4;
      Job job(ranks, options);
      std::deque<Tree> trees;
      std::deque<Ring> rings;
      const auto grid = job.communicators();
      for (const std::size_t bytes : {1u, 300u, 5000u, 150'000u}) {
        Tree& tree = trees.emplace_back(ranks, static_cast<Rank>(bytes) % ranks, bytes);
        Ring& ring = rings.emplace_back(ranks, bytes);
        for (std::size_t rank = 0; rank < grid.size(); ++rank) {
          job.start(job.world()[rank], starting(tree));
          job.start(grid[rank], starting(ring), rank % 2 == 0 ? Job::Pace::when_idle : Job::Pace::at_once);
        }
      }
      EXPECT_EQ(failures(job.finish()), "");
      for (const Tree& tree : trees) EXPECT_EQ(tree.wrong(), -1);
      for (const Ring& ring : rings) EXPECT_EQ(ring.wrong(), -1);
      EXPECT_EQ(job.network().left_over(), 0u);
      if (ranks > 1) {
        EXPECT_GT(job.network().refusals(), 0u);
      }
    }
}

TEST(SimulatedJob, TheSeedDecides) {
  const auto times = [](std::uint32_t seed) {
    Job job(20, adversarial(seed));
    Tree tree(20, 3, 1000);
    std::vector<Time> result;
    for (const Outcome& outcome : job.run(job.world(), starting(tree))) result.push_back(outcome.end);
    return result;
  };
  EXPECT_EQ(times(1), times(1));
  EXPECT_NE(times(1), times(2));
}

TEST(SimulatedJob, PersistentExchangesWriteIntoTheirPeers) {
  Options options = adversarial(3);
  options.capabilities.writes = true;
  Job job(4, options);
  const auto grid = job.communicators();
  Ring ring(4, 50'000);
  std::deque<core::Persistent> exchanges;
  for (std::size_t rank = 0; rank < 4; ++rank)
    exchanges.emplace_back(grid[rank], ring.schedule(static_cast<Rank>(rank)), ring.bases(static_cast<Rank>(rank)));
  for (int round = 0; round < 3; ++round)
    for (Rank rank = 0; rank < 4; ++rank)
      job.start(rank, exchanges[static_cast<std::size_t>(rank)], Job::Pace::when_idle);
  const auto outcomes = job.finish();
  EXPECT_EQ(failures(outcomes), "");
  EXPECT_EQ(ring.wrong(), -1);
  EXPECT_EQ(job.network().messages(), 8u) << "what neighbours tell each other beforehand";
  EXPECT_GE(job.network().sent(0).writes, 6u);
}

MessageAmounts sent_to_peers_by(const std::string& way, const std::vector<StatisticsByWay>& ranks) {
  MessageAmounts sums;
  for (const StatisticsByWay& rank : ranks)
    for (const PeerStatistics& peer : rank.peers)
      for (const WayStatistics& its : peer.ways)
        if (its.way == way) sums.add(its.sent);
  return sums;
}

TEST(SimulatedJob, ItsStatisticsHaveTheWaysOfMessages) {
  constexpr std::size_t kBytes = 300;
  Options options = adversarial(3);
  options.capabilities.writes = true;
  Job job(4, options);
  const auto grid = job.communicators();
  Ring once(4, kBytes);
  EXPECT_EQ(failures(job.run(grid, starting(once))), "");
  for (Rank rank = 0; rank < 4; ++rank)
    EXPECT_THAT(job.context(rank).statistics().ways_of("ring"),
                testing::ElementsAre(WayStatistics{"tagged", {2, 2 * kBytes}}))
        << "what is refused has not left";
  Ring often(4, kBytes);
  std::deque<core::Persistent> exchanges;
  for (std::size_t rank = 0; rank < 4; ++rank)
    exchanges.emplace_back(grid[rank], often.schedule(static_cast<Rank>(rank)), often.bases(static_cast<Rank>(rank)));
  for (Rank rank = 0; rank < 4; ++rank) job.start(rank, exchanges[static_cast<std::size_t>(rank)]);
  EXPECT_EQ(failures(job.finish()), "");
  std::vector<StatisticsByWay> ranks;
  Traffic sent;
  for (Rank rank = 0; rank < 4; ++rank) {
    ranks.push_back(job.context(rank).statistics());
    sent.writes += job.network().sent(rank).writes;
    sent.bytes += job.network().sent(rank).bytes;
  }
  const MessageAmounts tagged = sent_to_peers_by("tagged", ranks);
  const MessageAmounts written = sent_to_peers_by("written", ranks);
  EXPECT_EQ(tagged.messages, job.network().messages());
  EXPECT_EQ(written.messages, sent.writes);
  EXPECT_GE(written.messages, 8u);
  EXPECT_EQ(tagged.bytes + written.bytes, sent.bytes);
  const std::string page = core::statistics_page(ranks);
  EXPECT_THAT(page, testing::ContainsRegex("ring +- +written +8 "));
  EXPECT_THAT(page, testing::ContainsRegex("sim +tagged +" + std::to_string(tagged.messages) + " "));
}

/// Barriers on all ranks, one after the other and two at a time, until all sequence numbers have been used `wraps`
/// times and a thousand more.
void use_up_sequence_numbers(std::uint64_t tag_mask, std::uint64_t wraps) {
  Options options;
  options.capabilities.tag_mask = tag_mask;
  Job job(3, options);
  const Job::Start barrier = [](core::Communicator& communicator) -> core::Run& {
    core::engine_lock.assert_held();
    return collectives::start(communicator, nullptr, nullptr, collectives::barrier_call());
  };
  const std::uint64_t barriers = wraps * job.context(0).tags().sequences() + 1000;
  for (std::uint64_t i = 0; i < barriers; i += 2) {
    for (int k = 0; k < 2; ++k)
      for (const auto& communicator : job.world()) job.start(communicator, barrier);
    ASSERT_EQ(failures(job.finish()), "") << "barrier " << i;
  }
  EXPECT_EQ(job.network().left_over(), 0u);
}

TEST(SimulatedJob, BarriersGoOnBeyondTheLastSequenceNumber) { use_up_sequence_numbers((1ull << 34) - 1, 3); }

// Takes minutes: --gtest_also_run_disabled_tests.
TEST(SimulatedJob, DISABLED_BarriersGoOnBeyondTheLastOfWideTags) { use_up_sequence_numbers(~0ull, 1); }

TEST(SimulatedJob, ALostMessageIsMissed) {
  Options options = uniform();
  options.loses = [](const Departure& departure) { return departure.from == 0 && departure.number == 1; };
  Job job(5, options);
  Tree tree(5, 0, 10);
  const auto outcomes = job.run(job.world(), starting(tree));
  EXPECT_EQ(job.network().lost(), 1u);
  for (const Rank rank : {0, 1, 3, 4}) EXPECT_TRUE(outcomes[static_cast<std::size_t>(rank)].ok()) << rank;
  EXPECT_FALSE(outcomes[2].ended);
  EXPECT_EQ(outcomes[2].status.errc(), Errc::timed_out);
  EXPECT_THAT(outcomes[2].status.message, HasSubstr("receive from rank 0"));
}

class Deaths : public testing::TestWithParam<std::uint64_t> {};

// Rank 1 of a ring dies before its first or second message, or at some time.
TEST_P(Deaths, AreToldToThoseWhoDependOnThem) {
  constexpr Time kNotice = microseconds(50);
  Options options = uniform();
  options.notice_after = kNotice;
  options.deaths = {{.rank = 1, .after_messages = GetParam()}};
  Job job(5, options);
  Ring ring(5, 100);
  const auto grid = job.communicators();
  const auto outcomes = job.run(grid, starting(ring));
  EXPECT_TRUE(job.network().dead(1));
  EXPECT_FALSE(outcomes[1].ok());
  // Its first message goes up.
  const bool served = GetParam() == 1;
  EXPECT_EQ(outcomes[2].ok(), served);
  for (const Rank rank : {0, 2}) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(outcome.ended) << "no rank waits for ever: " << outcome.status.message;
    if (outcome.ok()) continue;
    EXPECT_EQ(outcome.status.errc(), Errc::unreachable);
    EXPECT_THAT(outcome.status.message, HasSubstr("rank 1 is gone"));
    EXPECT_GE(outcome.end, kNotice);
  }
  for (const Rank rank : {3, 4}) EXPECT_TRUE(outcomes[static_cast<std::size_t>(rank)].ok());
  const auto later = job.run(grid, starting(ring));
  EXPECT_THAT(later[0].status.message, HasSubstr("rank 1 is gone"));
  EXPECT_TRUE(later[3].ok());
}

INSTANTIATE_TEST_SUITE_P(After, Deaths, testing::Values(0, 1));

TEST(SimulatedJob, DeathsAtATime) {
  Options options = uniform();
  options.deaths = {{.rank = 1, .at = microseconds(3)}};
  Job job(3, options);
  const auto grid = job.communicators();
  Ring ring(3, 100);
  EXPECT_EQ(failures(job.run(grid, starting(ring))), "");
  const auto outcomes = job.run(grid, starting(ring));
  EXPECT_FALSE(outcomes[0].ok());
  EXPECT_THAT(outcomes[0].status.message, HasSubstr("rank 1 is gone"));
}

TEST(SimulatedJob, LongSendsToTheDeadFail) {
  Options options = uniform();
  options.model.eager_bytes = 0;
  options.loses = {};
  options.deaths = {{.rank = 1, .at = Time{1}}};
  Job job(2, options);
  Tree tree(2, 0, 1000);
  const auto outcomes = job.run(job.world(), starting(tree));
  EXPECT_EQ(outcomes[0].status.errc(), Errc::unreachable);
  EXPECT_THAT(outcomes[0].status.message, HasSubstr("rank 1 is gone"));
}

TEST(NetworkFile, NamesWhatDiffersFromTheDefaults) {
  const Model model =
      parse_model(R"({"ranks_per_node": 4, "far": {"L_ns": 5000, "G_ns_per_byte": 0.5}, "eager_bytes": 100})", "file");
  EXPECT_EQ(model.ranks_per_node, 4);
  EXPECT_EQ(model.nodes_per_switch, Model{}.nodes_per_switch);
  EXPECT_EQ(model.eager_bytes, 100u);
  EXPECT_EQ(model.far.latency, microseconds(5));
  EXPECT_EQ(model.far.stretch(3), std::chrono::nanoseconds(1));
  EXPECT_EQ(model.far.overhead, Model{}.far.overhead);
  EXPECT_EQ(model.same_node.latency, Model{}.same_node.latency);
}

TEST(NetworkFile, FaultsAreNamed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)parse_model(text, "net.json");
      return "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.errc(), Errc::invalid_argument);
      return error.what();
    }
  };
  EXPECT_THAT(message("{"), HasSubstr("net.json is no JSON"));
  EXPECT_THAT(message("[1]"), HasSubstr("net.json is no object"));
  EXPECT_THAT(message(R"({"near": {}})"), HasSubstr("net.json has a field \"near\"; known are ranks_per_node"));
  EXPECT_THAT(message(R"({"far": {"L": 1}})"), HasSubstr("net.json: far has a field \"L\"; known are L_ns"));
  EXPECT_THAT(message(R"({"ranks_per_node": 0})"), HasSubstr("ranks_per_node = 0; a number from 1"));
  EXPECT_THAT(message(R"({"far": {"L_ns": "1"}})"), HasSubstr("L_ns = \"1\"; a number from 0"));
  EXPECT_THROW((void)read_model("no/such/file"), Error);
}

}  // namespace
}  // namespace fab::sim
