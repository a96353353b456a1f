// Statistics: what is counted for known exchanges, and how it is kept, told and shown.
#include "fab/statistics.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/communicator/persistent.h"
#include "core/job/ledger.h"
#include "core/run/wait.h"
#include "core/run/wait_clock.h"
#include "core/statistics/figures.h"
#include "core/statistics/page.h"
#include "core/statistics/statistics_json.h"
#include "providers/local/local_provider.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"
#include "unit/support/local_ends.h"
#include "unit/support/patterns.h"
#include "unit/support/turned_clock.h"

namespace fab::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const OperationStatistics& find(const Statistics& statistics, std::string_view operation) {
  static const OperationStatistics none;
  const auto found = std::ranges::find(statistics.operations, operation, &OperationStatistics::operation);
  return found == statistics.operations.end() ? none : *found;
}

std::vector<std::string> communicators_of(const Statistics& statistics) {
  std::vector<std::string> names;
  for (const OperationStatistics& each : statistics.operations) names.push_back(each.communicator);
  return names;
}

// Lengths of waits.

TEST(WaitTimes, HaveAClassForEachPowerOfTwo) {
  EXPECT_EQ(WaitTimes::class_of(0), 0u);
  EXPECT_EQ(WaitTimes::class_of(1), 0u);
  EXPECT_EQ(WaitTimes::class_of(2), 1u);
  EXPECT_EQ(WaitTimes::class_of(3), 1u);
  for (std::size_t i = 1; i + 1 < WaitTimes::kClasses; ++i) {
    EXPECT_EQ(WaitTimes::class_of(std::uint64_t{1} << i), i);
    EXPECT_EQ(WaitTimes::class_of(WaitTimes::longest_of(i)), i);
    EXPECT_EQ(WaitTimes::class_of(WaitTimes::longest_of(i) + 1), i + 1);
  }
  EXPECT_EQ(WaitTimes::class_of(std::numeric_limits<std::uint64_t>::max()), WaitTimes::kClasses - 1);
}

TEST(WaitTimes, TellTheirPercentiles) {
  WaitTimes times;
  EXPECT_EQ(times.percentile_ns(0.5), 0u);
  for (int i = 0; i < 99; ++i) times.add(1000);
  times.add(5'000'000);
  EXPECT_EQ(times.percentile_ns(0.5), 1023u);
  EXPECT_EQ(times.percentile_ns(0.99), 1023u);
  EXPECT_EQ(times.percentile_ns(1), 5'000'000u) << "no more than the longest";
  EXPECT_EQ(times.total_ns, 99u * 1000 + 5'000'000);
  WaitTimes others;
  others.add(std::numeric_limits<std::uint64_t>::max());
  times.add(others);
  EXPECT_EQ(times.waits, 101u);
  EXPECT_EQ(times.percentile_ns(1), std::numeric_limits<std::uint64_t>::max());
}

// What plans count.

class CountedRing : public testing::Test {
 protected:
  /// Both neighbours, so often, by one plan.
  void exchange(const InProcessJob::Communicators& communicators, std::size_t bytes, int times) {
    for (int i = 0; i < times; ++i) {
      Ring ring(static_cast<int>(communicators.size()), bytes);
      std::vector<core::Run*> runs;
      for (const auto& communicator : communicators)
        runs.push_back(
            &start_locked(*communicator, [&](core::Communicator& its) -> core::Run& { return ring.start(its); }));
      job_.finish(runs);
      for (core::Run* run : runs) EXPECT_TRUE(release(*run).ok());
    }
  }
  static std::optional<Topology> none(Rank) { return std::nullopt; }

  InProcessJob job_{3, caller_config(), {}};
};

TEST_F(CountedRing, CountsMessagesAndBytes) {
  exchange(job_.communicators(none), 100, 5);
  for (Rank rank = 0; rank < 3; ++rank) {
    const Statistics statistics = job_.context(rank).statistics();
    const OperationStatistics& ring = find(statistics, "ring");
    EXPECT_EQ(ring.calls, 5u);
    EXPECT_EQ(ring.ranks, 3);
    EXPECT_EQ(ring.sent, (MessageAmounts{10, 1000}));
    EXPECT_EQ(ring.received, (MessageAmounts{10, 1000}));
    EXPECT_EQ(ring.packed, MessageAmounts{});
    EXPECT_EQ(ring.written, MessageAmounts{});
    EXPECT_EQ(ring.plans, 5u) << "each start had a plan of its own";
    EXPECT_GE(ring.plans_ns, ring.longest_plan_ns);
    ASSERT_THAT(statistics.peers, SizeIs(2));
    for (const PeerStatistics& peer : statistics.peers) EXPECT_EQ(peer.received, (MessageAmounts{5, 500}));
    EXPECT_EQ(statistics.totals().sent, (MessageAmounts{10, 1000}));
    EXPECT_GT(statistics.counter("polls"), 0u);
  }
}

TEST_F(CountedRing, KeepsWhatCommunicatorsThatEndedHaveDone) {
  InProcessJob::Communicators first = job_.communicators(none);
  exchange(first, 8, 2);
  const Statistics living = job_.context(0).statistics();
  first.clear();
  const Statistics ended = job_.context(0).statistics();
  EXPECT_EQ(living.operations, ended.operations);
  for (const PeerStatistics& peer : ended.peers) EXPECT_EQ(peer.received, (MessageAmounts{2, 16}));
  exchange(job_.communicators(none), 8, 1);
  const Statistics both = job_.context(0).statistics();
  ASSERT_THAT(both.operations, SizeIs(2));
  EXPECT_NE(both.operations[0].communicator, both.operations[1].communicator);
  EXPECT_EQ(both.totals().calls, 3u);
  for (const PeerStatistics& peer : both.peers) EXPECT_EQ(peer.received, (MessageAmounts{3, 24}));
}

TEST(Ledger, HasABoundForCommunicatorsAndRows) {
  InProcessJob job(1, caller_config(), {});
  constexpr std::size_t kMany = 2 * core::Ledger::kMostCommunicators;
  for (std::size_t i = 0; i < kMany; ++i) {
    Ring ring(1, 8);
    const auto communicators = job.communicators([](Rank) { return std::nullopt; });
    core::Run& run =
        start_locked(*communicators[0], [&](core::Communicator& its) -> core::Run& { return ring.start(its); });
    EXPECT_TRUE(release(run).ok());
  }
  const Statistics statistics = job.context(0).statistics();
  EXPECT_LE(statistics.operations.size(), core::Ledger::kMostCommunicators + 1);
  EXPECT_THAT(communicators_of(statistics), testing::Contains("others"));
  EXPECT_EQ(statistics.totals().calls, kMany);
}

TEST(PlanStatistics, TellWhatIsPacked) {
  RecordingRig rig;
  ScheduleBuilder builder("two_forms", 4);
  constexpr std::size_t kColumn = 10;
  const Layout column = Layout::vector(kColumn, 1, 8, Layout::contiguous(4));
  builder.send(1, 0, {BufferId::send, 0, column});
  builder.send(2, 0, {BufferId::send, 0, Layout::contiguous(1000)});
  builder.recv(2, 0, {BufferId::recv, 0, column});
  Buffers buffers{1000};
  const std::shared_ptr<core::RunPool> pool = rig.pool(builder.commit());
  constexpr std::uint64_t kStarts = 3;
  for (std::uint64_t i = 0; i < kStarts; ++i) {
    core::Run& run = rig.start(*pool, buffers);
    rig.provider().settle_all(4 * kColumn);
    while (!run.done()) rig.poll();
    rig.let_go(run);
  }
  const Statistics statistics = rig.context().statistics();
  const OperationStatistics& counted = find(statistics, "two_forms");
  EXPECT_EQ(counted.calls, kStarts);
  EXPECT_EQ(counted.communicator, "world");
  EXPECT_EQ(counted.sent, (MessageAmounts{2 * kStarts, 1040 * kStarts}));
  EXPECT_EQ(counted.packed, (MessageAmounts{kStarts, 40 * kStarts}));
  EXPECT_EQ(counted.received, (MessageAmounts{kStarts, 40 * kStarts}));
  EXPECT_EQ(counted.unpacked, (MessageAmounts{kStarts, 40 * kStarts}));
}

TEST(PlanStatistics, TellTheWaysThatTheProviderTells) {
  RecordingRig rig;
  Buffers buffers{48};
  const std::shared_ptr<core::RunPool> pool = rig.pool(exchange_with({1, 2, 3}, 16));
  constexpr std::uint64_t kStarts = 3;
  for (std::uint64_t i = 0; i < kStarts; ++i) {
    rig.provider().refuse(1, 1);
    core::Run& run = rig.start(*pool, buffers);
    while (!run.done()) {
      rig.provider().settle_all(16);
      rig.poll();
    }
    rig.let_go(run);
  }
  const StatisticsByWay statistics = rig.context().statistics();
  EXPECT_EQ(statistics.operation_ways.size(), statistics.operations.size());
  EXPECT_THAT(statistics.ways_of("test"), testing::ElementsAre(WayStatistics{"tagged", {3 * kStarts, 48 * kStarts}}))
      << "what is refused has not left";
}

TEST(PlanStatistics, CountAPartedMessageOnce) {
  RecordingRig rig;
  constexpr std::size_t kBytes = 1'000'000;  // in several parts
  const Schedule schedule = exchange_with({1}, kBytes);
  const std::shared_ptr<core::RunPool> pool = rig.pool(schedule);
  ASSERT_GT(pool->plan().messages(0).size(), 2u);
  const core::PlannedAmounts amounts = pool->plan().amounts();
  EXPECT_EQ(amounts.sent.messages, 1u);
  EXPECT_GT(amounts.sent.bytes, kBytes) << "its frame counts";
  EXPECT_LT(amounts.sent.bytes, kBytes + 100);
  EXPECT_EQ(amounts.received, amounts.sent);
}

TEST(PlanStatistics, CountRefusedPosts) {
  RecordingRig rig;
  Buffers buffers{8};
  rig.provider().refuse(3);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  while (rig.provider().refusals() < 3) rig.poll();
  rig.poll();
  rig.provider().settle_all(8);
  while (!run.done()) rig.poll();
  rig.let_go(run);
  EXPECT_EQ(rig.context().statistics().counter("refused_posts"), 3u);
}

// Time that is waited.

const PeerStatistics& peer(const Statistics& statistics, Rank rank) {
  static const PeerStatistics none;
  const auto found = std::ranges::find(statistics.peers, rank, &PeerStatistics::rank);
  return found == statistics.peers.end() ? none : *found;
}

TEST(WaitClock, BlamesThePeerThatEndsTheLongestPause) {
  using std::chrono::milliseconds;
  RecordingRig rig;
  Buffers buffers{24};
  const std::shared_ptr<core::RunPool> pool = rig.pool(exchange_with({1, 2, 3}, 8));
  core::Run& run = rig.start(*pool, buffers);
  for (const PeerHandle each : {1u, 2u, 3u}) rig.provider().complete_send(rig.provider().find(kSend, each));
  rig.poll();
  core::WaitClock clock(run, core::WaitClock::kNow, TurnedClock::now);
  const auto comes_after = [&](Rank from, milliseconds pause) {
    TurnedClock::turn(pause);
    clock.look(run);
    rig.provider().deliver(rig.provider().find(kRecv, static_cast<PeerHandle>(from)), bytes_of(8, 1));
    rig.poll();
    clock.look(run);
  };
  comes_after(3, milliseconds(2));
  comes_after(1, milliseconds(9));
  comes_after(2, milliseconds(4));
  ASSERT_TRUE(run.done());
  {
    const core::Lock lock(rig.engine());
    clock.end(run);
  }
  rig.let_go(run);
  const Statistics statistics = rig.context().statistics();
  EXPECT_EQ(peer(statistics, 1).came_last, 1u);
  EXPECT_EQ(peer(statistics, 1).waited_ns, 15'000'000u);
  EXPECT_EQ(peer(statistics, 2).came_last + peer(statistics, 3).came_last, 0u);
  const OperationStatistics totals = statistics.totals();
  EXPECT_EQ(totals.waited.waits, 1u);
  EXPECT_EQ(totals.waited.most_ns, 15'000'000u);
}

TEST(WaitClock, CountsNoWaitThatItsFirstPollsEnd) {
  RecordingRig rig;
  Buffers buffers{8};
  const std::shared_ptr<core::RunPool> pool = rig.pool(exchange_with({1}, 8));
  core::Run& run = rig.start(*pool, buffers);
  rig.provider().settle_all(8);
  EXPECT_TRUE(core::complete(run).ok());
  const OperationStatistics totals = rig.context().statistics().totals();
  EXPECT_EQ(totals.calls, 1u);
  EXPECT_EQ(totals.waited.waits, 0u);
}

// Ways within a node.

class WaysOfMessages : public LocalEnds {
 protected:
  void send_and_receive(std::initializer_list<std::size_t> sizes) {
    std::deque<Message> sent;
    std::deque<Message> received;
    std::uint64_t tag = 0;
    for (const std::size_t bytes : sizes) {
      sent.emplace_back(periodic_bytes(bytes, 1));
      sent.back().outcome.count_in(&counted_);
      received.emplace_back(std::vector<std::byte>(bytes));
      receive(received.back(), tag);
      send(sent.back(), tag++);
    }
    poll_until_all_ended(sent);
    poll_until_all_ended(received);
  }
  [[nodiscard]] MessageAmounts sent_by(std::string_view way) const {
    MessageAmounts sums;
    left_.visit_ways(to_right_, [&](std::string_view name, std::uint64_t messages, std::uint64_t bytes) {
      if (name == way) sums.add({messages, bytes});
    });
    return sums;
  }

  WayCounts counted_;  ///< as the messages' own sender counts them
};

TEST_P(WaysOfMessages, AreToldToTheirSender) {
  as_the_way_says(GetParam(), [&] {
    send_and_receive({0, 8, local::Cell::kInlineBytes + 1, 400'000});
    std::uint64_t messages = 0;
    counted_.visit([&](std::string_view way, std::uint64_t its_messages, std::uint64_t bytes) {
      EXPECT_EQ(sent_by(way), (MessageAmounts{its_messages, bytes})) << way;
      messages += its_messages;
    });
    EXPECT_EQ(messages, 4u);
    Message other(periodic_bytes(8, 1));
    Message received(std::vector<std::byte>(8));
    const std::uint64_t cells = counted_[fab::Way::cell].messages;
    receive(received, 9);
    send(other, 9);
    EXPECT_EQ(counted_[fab::Way::cell].messages, cells) << "its sender counts nothing";
    EXPECT_EQ(sent_by("cell").messages, cells + 1);
    while (!received.outcome.ended) poll();
  });
}

TEST_P(WaysOfMessages, AreCountedOneByOne) {
  as_the_way_says(GetParam(), [&] {
    constexpr std::size_t kInside = local::Cell::kInlineBytes;
    send_and_receive({0, 8, kInside, kInside + 1, 400, 100'000, 400'000});
    const std::string way = GetParam().name;
    EXPECT_EQ(sent_by("cell"), (MessageAmounts{3, 8 + kInside}));
    const MessageAmounts middle{2, kInside + 1 + 400};
    const MessageAmounts longer{2, 500'000};
    MessageAmounts all = middle;
    all.add(longer);
    const bool announces_all = way == "read" || way == "forbidden";
    EXPECT_EQ(sent_by("ring"), announces_all ? MessageAmounts{} : middle);
    EXPECT_EQ(sent_by("kernel"), way == "read" ? all : way == "automatic" ? longer : MessageAmounts{});
    EXPECT_EQ(sent_by("mapped"), way == "mapped" ? longer : MessageAmounts{});
    EXPECT_EQ(sent_by("chunks"), way == "forbidden" ? all : way == "ring" ? longer : MessageAmounts{});
  });
}

/// A message that its receiver can neither map nor read was announced as one that it reads.
TEST_P(WaysOfMessages, AreKnownWhenTheyLeave) {
  as_the_way_says(GetParam(), [&] {
    for (const std::size_t bytes : {std::size_t{8}, local::Cell::kInlineBytes + 1, std::size_t{400'000}}) {
      const Message message{periodic_bytes(bytes, 1)};
      const iovec piece{const_cast<std::byte*>(message.memory.data()), bytes};
      const std::string_view way = left_.way_of(to_right_, {&piece, 1});
      const MessageAmounts before = sent_by(way);
      const MessageAmounts in_chunks = sent_by("chunks");
      send_and_receive({bytes});
      if (sent_by("chunks") == in_chunks)
        EXPECT_EQ(sent_by(way).messages, before.messages + 1) << way;
      else
        EXPECT_EQ(way, "kernel");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, WaysOfMessages, testing::ValuesIn(kWays), name_of);

// Text.

StatisticsByWay some_statistics(Rank rank) {
  StatisticsByWay statistics;
  statistics.rank = rank;
  statistics.ranks = 3;
  OperationStatistics ring{.communicator = "2.5", .ranks = 3, .operation = "ring \"x\"", .algorithm = "chain"};
  ring.calls = 1000;
  ring.sent = {2000, 16'000};
  ring.packed = {1000, 8000};
  ring.plans = 1;
  ring.plans_ns = ring.longest_plan_ns = 70'000;
  for (int i = 0; i < 900; ++i) ring.waited.add(1'000'000 + static_cast<std::uint64_t>(rank));
  statistics.operations.push_back(ring);
  statistics.operation_ways.push_back({{"cell", {1990, 15'000}}, {"tagged", {10, 1000}}});
  PeerStatistics late{.rank = 2, .provider = "local", .came_last = 812, .waited_ns = 1'200'000'000};
  late.ways.push_back({"cell", {2000, 16'000}});
  late.received = {1000, 8000};
  if (rank != 2) statistics.peers.push_back(late);
  statistics.counters = {{"polls", 10'000}, {"late_wake_ups", 0}, {"open_for_ns", 2'000'000'000}};
  return statistics;
}

TEST(StatisticsText, ComesBackFromJson) {
  const StatisticsByWay statistics = some_statistics(1);
  EXPECT_EQ(core::read_statistics(statistics.json()), statistics);
  EXPECT_EQ(core::read_statistics(StatisticsByWay{}.json()), StatisticsByWay{});
  for (const char* wrong : {"", "{}", "[1]", "{\"rank\": \"x\"}"})
    EXPECT_THROW(static_cast<void>(core::read_statistics(wrong)), Error) << wrong;
}

/// The paths of all numbers below an object, less those that only name it.
std::set<std::string> paths_of(nlohmann::json object, std::initializer_list<const char*> names) {
  for (const char* name : names) object.erase(name);
  if (object.contains("waited")) object["waited"]["by_length"] = 0;
  std::set<std::string> paths;
  const nlohmann::json flat = object.flatten();
  for (const auto& [path, value] : flat.items()) paths.insert(path.substr(1));
  return paths;
}

std::set<std::string> paths_of(const auto& figures) {
  std::set<std::string> paths;
  for (const core::Figure& figure : figures) paths.insert(figure.path);
  return paths;
}

TEST(StatisticsFigures, AreThoseOfTheJson) {
  const auto json = nlohmann::json::parse(some_statistics(1).json());
  const auto& peer = json["peers"][0];
  const auto& operation = json["operations"][0];
  EXPECT_EQ(paths_of(operation, {"communicator", "ranks", "operation", "algorithm", "ways"}),
            paths_of(core::operation_figures()));
  EXPECT_EQ(paths_of(operation["ways"][0], {"way"}), paths_of(core::operation_way_figures()));
  EXPECT_EQ(paths_of(peer, {"rank", "provider", "ways"}), paths_of(core::peer_figures()));
  EXPECT_EQ(paths_of(peer["ways"][0], {"way"}), paths_of(core::way_figures()));
}

TEST(StatisticsFigures, AreTheCountersOfAContext) {
  InProcessJob job(1, caller_config(), {});
  std::vector<std::string> counted;
  for (const CounterStatistics& counter : job.context(0).statistics().counters) counted.push_back(counter.name);
  std::vector<std::string> described;
  for (const core::Figure& figure : core::counter_figures()) described.emplace_back(figure.path);
  EXPECT_EQ(counted, described);
}

TEST(StatisticsFigures, AreAddedOrTheLargest) {
  OperationStatistics one;
  OperationStatistics other;
  std::uint64_t next = 1;
  for (const auto& figure : core::operation_figures())
    if (figure.at != nullptr) {
      figure.at(one) = next++;
      figure.at(other) = 2 * next++;
    }
  const OperationStatistics before = one;
  one.add(other);
  for (const auto& figure : core::operation_figures())
    if (figure.at != nullptr) {
      EXPECT_EQ(figure.value(one), figure.largest ? figure.value(other) : figure.value(before) + figure.value(other))
          << figure.path;
    }
}

TEST(StatisticsByWay, AddUpTheWaysOfOneName) {
  StatisticsByWay statistics = some_statistics(1);
  statistics.operations.push_back({.communicator = "world", .operation = statistics.operations[0].operation});
  statistics.operation_ways.push_back({{"kernel", {1, 50'000}}, {"cell", {10, 80}}});
  statistics.operations.push_back({.operation = "bcast"});
  statistics.operation_ways.push_back({{"cell", {1, 8}}});
  EXPECT_THAT(statistics.ways_of(statistics.operations[0].operation),
              testing::ElementsAre(WayStatistics{"cell", {2000, 15'080}}, WayStatistics{"tagged", {10, 1000}},
                                   WayStatistics{"kernel", {1, 50'000}}));
  EXPECT_THAT(statistics.ways_of("bcast"), testing::ElementsAre(WayStatistics{"cell", {1, 8}}));
  EXPECT_THAT(statistics.ways_of("gather"), IsEmpty());
}

TEST(StatisticsText, HasBytesThatAreNoText) {
  StatisticsByWay statistics;
  statistics.operations.push_back({.operation = "\xff\xfe"});
  EXPECT_THAT(core::read_statistics(statistics.json()).operations, SizeIs(1));
}

TEST(StatisticsPage, NamesThePeerThatCameLast) {
  const std::vector<StatisticsByWay> ranks{some_statistics(0), some_statistics(1), some_statistics(2)};
  const std::string page = core::statistics_page(ranks);
  EXPECT_THAT(page, HasSubstr("rank 2 was waited for 2.400 s, in 1624 of 2000 calls of other ranks"));
  EXPECT_THAT(page, testing::ContainsRegex("calls +1000 +1000 +1000 +0\n"));
  EXPECT_THAT(page, testing::ContainsRegex("waited, s +0\\.900 +0\\.900 +0\\.900 +2\n"));
  EXPECT_THAT(page, testing::ContainsRegex("ring .x. +chain +3000 +0\\.05 +50 % +2700 +2\\.700"));
  EXPECT_THAT(page, testing::ContainsRegex("ring .x. +chain +cell +5970 +0\\.043\nring .x. +chain +tagged +30 "));
  EXPECT_THAT(page, testing::ContainsRegex("local +cell +4000 "));
  EXPECT_THAT(page, testing::Not(HasSubstr("late_wake_ups"))) << "it is 0 on all ranks";
}

TEST(StatisticsPage, HasTheLeastTheMedianAndTheMostWithItsFirstRank) {
  std::vector<StatisticsByWay> ranks;
  for (const std::uint64_t calls : {40u, 7u, 90u, 90u, 2u})
    ranks.push_back({{.rank = static_cast<Rank>(ranks.size()), .operations = {{.operation = "ring", .calls = calls}}}});
  EXPECT_THAT(core::statistics_page(ranks), testing::ContainsRegex("calls +2 +40 +90 +2\n"));
  ranks.pop_back();
  EXPECT_THAT(core::statistics_page(ranks), testing::ContainsRegex("calls +7 +90 +90 +2\n"))
      << "of an even number of ranks the upper one of the two in the middle";
}

TEST(StatisticsPage, IsEmptyWithoutRanks) { EXPECT_THAT(core::statistics_page({}), IsEmpty()); }

// All ranks.

TEST(GatheredStatistics, NameTheRanksThatToldNone) {
  InProcessJob job(3, caller_config(), {});
  for (const Rank rank : {0, 2}) job.context(rank).tell_statistics("key");
  const core::JobStatistics gathered = job.context(0).gather_statistics("key", 0.05);
  EXPECT_THAT(gathered.silent, testing::ElementsAre(1));
  ASSERT_THAT(gathered.told, SizeIs(2));
  EXPECT_EQ(gathered.told[1].rank, 2);
}

}  // namespace
}  // namespace fab::test
