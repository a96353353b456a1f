// What is made of traces: messages with both ends, one clock, and the ranks that others waited for.
#include "bindings/tools/trace/timeline.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "bindings/tools/trace/chrome_trace.h"
#include "bindings/tools/trace/clocks.h"
#include "bindings/tools/trace/late_ranks.h"
#include "bindings/tools/trace/otf2_trace.h"
#include "bindings/tools/trace/timeline_picture.h"
#include "bindings/tools/trace/trace_report.h"
#include "bindings/tools/trace/tracks.h"
#include "unit/support/expect_error.h"
#include "unit/trace/trace_builder.h"

namespace fab::test {
namespace {

using testing::HasSubstr;
using tools::kNever;
using tools::kNone;
using tools::LateWait;
using tools::make_timeline;
using tools::Reason;
using tools::Timeline;

/// Each receive comes after its send.
void expect_causality(const Timeline& timeline) {
  for (const tools::RankTimeline& rank : timeline.of_rank)
    for (const tools::MessageEnd& send : rank.sends)
      if (send.other != kNone) {
        EXPECT_GT(timeline.find(send.peer)->receives[send.other].done, send.posted);
      }
}

LateWait wait_of(const Timeline& timeline, Rank rank) {
  for (const LateWait& wait : tools::find_late_ranks(timeline))
    if (wait.rank == rank) return wait;
  ADD_FAILURE() << "rank " << rank << " has no wait";
  return {};
}

// Messages.

TEST(TimelineOfTraces, HasExchangesWithTheirMessages) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2100, 1, 1, 5).received(2500, 1, 1, 6).end(2600, 1).wait(2200, 2600, 1).sleep(1500, 2050);
  TraceBuilder other(1, 2);
  other.start(2010, 9, 1).send(2110, 9, 0, 6).received(2400, 9, 0, 5).end(2450, 9);
  const Timeline timeline = make_timeline(traces_of(one, other));
  EXPECT_EQ(timeline.messages, 2u);
  EXPECT_EQ(timeline.lonely, 0u);
  const tools::RankTimeline& first = timeline.of_rank[0];
  ASSERT_EQ(first.exchanges.size(), 1u);
  EXPECT_EQ(first.exchanges[0].end, 2600);
  EXPECT_EQ(first.sends[0].other, 0u);
  EXPECT_EQ(first.waits[0].exchange, 0u);
  EXPECT_EQ(first.sleeps.size(), 1u);
}

TEST(TimelineOfTraces, MatchesEqualMessagesInTheirOrder) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2100, 1, 1, 5).send(2200, 1, 1, 5).send(2300, 1, 1, 5);
  TraceBuilder other(1, 2);
  other.start(2000, 1, 1).received(2150, 1, 0, 5).received(2250, 1, 0, 5);
  const Timeline timeline = make_timeline(traces_of(one, other));
  EXPECT_EQ(timeline.messages, 2u);
  EXPECT_EQ(timeline.lonely, 1u);
  EXPECT_EQ(timeline.of_rank[0].sends[1].other, 1u);
  EXPECT_EQ(timeline.of_rank[0].sends[2].other, kNone);
}

TEST(TimelineOfTraces, TellsStartsOfAPersistentExchangeApart) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2100, 1, 1, 5).end(2110, 1).start(3000, 2, 2).send(3100, 2, 1, 5);
  TraceBuilder other(1, 2);  // has lost its first start
  other.received(2150, 1, 0, 5).end(2160, 1).start(3000, 2, 2).received(3150, 2, 0, 5);
  const Timeline timeline = make_timeline(traces_of(one, other));
  EXPECT_EQ(timeline.messages, 1u);
  EXPECT_EQ(timeline.of_rank[0].sends[0].other, kNone);
  EXPECT_EQ(timeline.of_rank[0].sends[1].other, 0u);
}

TEST(TimelineOfTraces, KeepsMessagesFromRankToRankApartFromThoseOfExchanges) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1, TraceBuilder::kSend).send(2100, 1, 1, 0, false).sent(2200, 1, 1, 99).end(2210, 1);
  TraceBuilder other(1, 2);
  other.start(2000, 1, 0).received(2150, 1, 0, 0);
  other.start(2000, 2, 1, TraceBuilder::kRecv).received(2190, 2, 0, 0).end(2191, 2);
  const Timeline timeline = make_timeline(traces_of(one, other));
  EXPECT_EQ(timeline.messages, 1u);
  EXPECT_EQ(timeline.of_rank[1].receives[timeline.of_rank[0].sends[0].other].exchange, 1u);
  EXPECT_EQ(timeline.of_rank[0].sends[0].done, 2200);
}

TEST(TimelineOfTraces, BearsMissingRanks) {
  TraceBuilder one(0, 3);
  one.start(2000, 1, 1).send(2100, 1, 2, 5).received(2500, 1, 2, 6).wait(2200, 2500, 1);
  Timeline timeline = make_timeline(traces_of(one));
  tools::align_clocks(timeline);
  EXPECT_EQ(timeline.messages, 0u);
  EXPECT_EQ(timeline.lonely, 2u);
  EXPECT_EQ(wait_of(timeline, 0).late, 2);
  EXPECT_EQ(wait_of(timeline, 0).reason, Reason::unknown);
}

// Clocks.

TEST(ClocksOfHosts, AreOneWithinAHost) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2100, 1, 1, 5);
  TraceBuilder other(1, 2);
  other.start(2000, 1, 1).received(2150, 1, 0, 5);
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  EXPECT_TRUE(timeline.notes.empty());
  EXPECT_EQ(timeline.of_rank[0].sends[0].posted, 1100) << "since the contexts were opened";
  EXPECT_EQ(timeline.of_rank[1].receives[0].done, 1150);
}

/// Two hosts, whose second clock is 1 ms ahead and gains 100 ns in each ms.
std::uint64_t second_clock(std::uint64_t time) { return time + 1'000'000 + time / 10'000; }

TEST(ClocksOfHosts, AreAlignedByTheirMessages) {
  TraceBuilder one(0, 2, "first");
  TraceBuilder other(1, 2, "second");
  std::uint64_t time = 10'000;
  for (std::uint32_t i = 1; i <= 200; ++i, time += 5'000'000) {
    one.start(time, i, i).send(time + 10, i, 1, 5).received(time + 6000, i, 1, 6);
    other.start(second_clock(time + 500), i, i)
        .send(second_clock(time + 600), i, 0, 6)
        .received(second_clock(time + 5400), i, 0, 5);
  }
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  ASSERT_EQ(timeline.notes.size(), 1u);
  EXPECT_THAT(timeline.notes[0], HasSubstr("host of first and host of second: by 200 messages there and 200 back"));
  expect_causality(timeline);
  for (std::size_t i = 0; i < 200; ++i)
    EXPECT_NEAR(static_cast<double>(timeline.of_rank[1].exchanges[i].start - timeline.of_rank[0].exchanges[i].start),
                500, 100);
}

TEST(ClocksOfHosts, AreFoundByWayOfOthers) {
  TraceBuilder one(0, 3, "a");
  TraceBuilder two(1, 3, "b");
  TraceBuilder three(2, 3, "c");
  one.start(10'000, 1, 1).send(10'100, 1, 1, 5).received(10'900, 1, 1, 6);
  two.start(510'000, 1, 1).received(510'500, 1, 0, 5).send(510'500, 1, 0, 6);
  two.start(520'000, 2, 2).send(520'100, 2, 2, 7).received(520'900, 2, 2, 8);
  three.start(20'000, 1, 2).received(20'500, 1, 1, 7).send(20'500, 1, 1, 8);
  Timeline timeline = make_timeline(traces_of(one, two, three));
  tools::align_clocks(timeline);
  EXPECT_EQ(timeline.notes.size(), 2u);
  expect_causality(timeline);
  EXPECT_EQ(timeline.of_rank[1].exchanges[0].start - timeline.of_rank[0].exchanges[0].start, 0);
  EXPECT_EQ(timeline.of_rank[2].exchanges[0].start - timeline.of_rank[1].exchanges[1].start, 0);
}

TEST(ClocksOfHosts, GoByTheTimeOfDayWhereMessagesGoOneWay) {
  TraceBuilder one(0, 2, "first");
  one.start(10'000, 1, 1).send(10'100, 1, 1, 5);
  TraceBuilder other(1, 2, "second");
  other.trace().head.begin.realtime_ns -= 20'000;  // its clock is 20 us ahead
  other.trace().head.end.realtime_ns -= 20'000;
  other.start(30'000, 1, 1).received(35'000, 1, 0, 5);
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  ASSERT_EQ(timeline.notes.size(), 1u);
  EXPECT_THAT(timeline.notes[0], HasSubstr("only bounds the offset"));
  EXPECT_EQ(timeline.of_rank[1].exchanges[0].start - timeline.of_rank[0].exchanges[0].start, 0);
  expect_causality(timeline);
}

TEST(ClocksOfHosts, NeverLetAMessageArriveBeforeItWasSent) {
  TraceBuilder one(0, 2, "first");
  one.start(10'000, 1, 1).send(10'100, 1, 1, 5).received(10'200, 1, 1, 6);
  one.start(900'000, 2, 2).send(900'100, 2, 1, 5).received(900'200, 2, 1, 6);
  TraceBuilder other(1, 2, "second");  // its clock is set back by 0.5 ms in between
  other.start(510'000, 1, 1).send(510'090, 1, 0, 6).received(510'210, 1, 0, 5);
  other.start(900'000, 2, 2).send(900'090, 2, 0, 6).received(900'210, 2, 0, 5).end(900'300, 2);
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  expect_causality(timeline);
  ASSERT_EQ(timeline.notes.size(), 2u);
  EXPECT_THAT(timeline.notes[0], HasSubstr("a clock was set"));
  EXPECT_THAT(timeline.notes[1], HasSubstr("seemed to arrive before they were sent"));
  const tools::RankTimeline& second = timeline.of_rank[1];
  EXPECT_GE(second.exchanges[1].end, second.receives[1].done) << "what comes next moves, too";
}

TEST(ClocksOfHosts, BearMessagesThatWaitForEachOther) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).received(2100, 1, 1, 6).send(2200, 1, 1, 5);
  TraceBuilder other(1, 2);
  other.start(2000, 1, 1).received(2110, 1, 0, 5).send(2210, 1, 0, 6);
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  EXPECT_EQ(timeline.messages, 1u);
  EXPECT_EQ(timeline.lonely, 2u);
  expect_causality(timeline);
}

// Who was late.

TEST(LateRanks, AreThoseThatStartedLate) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2010, 1, 1, 5).received(8200, 1, 1, 6).end(8210, 1).wait(2100, 8220, 1);
  TraceBuilder other(1, 2);
  other.start(8000, 1, 1).send(8010, 1, 0, 6).received(8020, 1, 0, 5).end(8030, 1).wait(8015, 8035, 1);
  const Timeline timeline = make_timeline(traces_of(one, other));
  const LateWait late = wait_of(timeline, 0);
  EXPECT_EQ(late.reason, Reason::started_late);
  EXPECT_EQ(late.late, 1);
  EXPECT_EQ(late.late_by, 5900);
  EXPECT_EQ(late.took, 6120);
  EXPECT_EQ(late.through, kNoRank);
  EXPECT_EQ(wait_of(timeline, 1).reason, Reason::on_the_way) << "rank 0 had sent long before";
}

TEST(LateRanks, AreFoundThroughThoseThatWaitedForThem) {
  TraceBuilder leaf(0, 3);
  leaf.start(2000, 1, 1).received(9000, 1, 1, 7).end(9010, 1).wait(2100, 9020, 1);
  TraceBuilder middle(1, 3);
  middle.start(2000, 1, 1)
      .received(8500, 1, 2, 6)
      .round(8510, 1, 1)
      .send(8520, 1, 0, 7)
      .end(8600, 1)
      .wait(2100, 8610, 1);
  TraceBuilder root(2, 3);
  root.start(8000, 1, 1).send(8100, 1, 1, 6).end(8200, 1);
  const Timeline timeline = make_timeline(traces_of(leaf, middle, root));
  const LateWait late = wait_of(timeline, 0);
  EXPECT_EQ(late.reason, Reason::started_late);
  EXPECT_EQ(late.late, 2);
  EXPECT_EQ(late.through, 1);
  EXPECT_EQ(wait_of(timeline, 1).through, kNoRank);
}

TEST(LateRanks, MaySendLateAllTheSame) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).received(9000, 1, 1, 7).end(9010, 1).wait(2100, 9020, 1);
  TraceBuilder other(1, 2);
  other.start(1900, 1, 1).round(8000, 1, 1).send(8100, 1, 0, 7).end(8200, 1);
  const LateWait late = wait_of(make_timeline(traces_of(one, other)), 0);
  EXPECT_EQ(late.reason, Reason::posted_late);
  EXPECT_EQ(late.late, 1);
}

TEST(LateRanks, MayBeReceivers) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2010, 1, 1, 5, false).sent(9000, 1, 1, 5).end(9010, 1).wait(2100, 9020, 1);
  TraceBuilder other(1, 2);
  other.start(8000, 1, 1).received(8900, 1, 0, 5).end(8950, 1);
  const LateWait late = wait_of(make_timeline(traces_of(one, other)), 0);
  EXPECT_EQ(late.reason, Reason::received_late);
  EXPECT_EQ(late.late, 1);
  EXPECT_EQ(late.late_by, 5900);
}

// The report.

TEST(ReportOfTraces, TellsOverlapAndTheRankThatWasWaitedFor) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 12).send(2010, 1, 1, 5).received(9000, 1, 1, 6).end(10'000, 1).wait(8000, 10'000, 1);
  TraceBuilder other(1, 2);
  other.start(8500, 1, 12).send(8600, 1, 0, 6).received(8700, 1, 0, 5).end(8800, 1, true);
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  const tools::TraceReport report = tools::make_report(timeline);
  ASSERT_EQ(report.operations.size(), 2u);
  EXPECT_DOUBLE_EQ(report.operations[0].overlap(), 0.75);
  EXPECT_EQ(report.operations[0].late_starts, 2000);
  EXPECT_EQ(report.operations[1].failed, 1u);
  EXPECT_EQ(report.ranks[1].kept_waiting, 2000);
  const std::string text = to_text(report, timeline, 20);
  EXPECT_THAT(text, HasSubstr("step 12 of ring: rank 0 waited 2.0 us for rank 1, which started 0.5 us late"));
  const auto json = nlohmann::json::parse(to_json(report, timeline, 20));
  EXPECT_EQ(json["waits"][0]["for_rank"], 1);
  EXPECT_EQ(json["waits"][0]["step"], 12);
  EXPECT_EQ(json["operations"][0]["overlap"], 0.75);
}

TEST(ReportOfTraces, CountsTheTimeOfSeveralCallersOnce) {
  TraceBuilder one(0, 1);
  one.start(2000, 1, 1).end(4000, 1).wait(2000, 3000, 1).wait(2500, 3500, 1).wait(3400, 3500, 1);
  const tools::TraceReport report = tools::make_report(make_timeline(traces_of(one)));
  EXPECT_EQ(report.operations[0].waited, 1500);
  EXPECT_EQ(report.ranks[0].waited, 1500);
}

// What viewers get.

TEST(TraceForViewers, HasBothEndsOfEachArrow) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 1).send(2010, 1, 1, 5).received(9000, 1, 1, 6).end(9010, 1).wait(2100, 9020, 1);
  TraceBuilder other(1, 2);
  other.start(8500, 1, 1).send(8600, 1, 0, 6).received(8700, 1, 0, 5);  // and never ends
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  std::string text;
  tools::write_chrome_trace(timeline, [&](std::string_view more) { text += more; });
  const auto json = nlohmann::json::parse(text);
  std::map<int, std::vector<nlohmann::json>> flows;
  for (const auto& event : json["traceEvents"])
    if (event["ph"] == "s" || event["ph"] == "f") flows[event["id"].get<int>()].push_back(event);
  EXPECT_EQ(flows.size(), 2u);
  for (const auto& [id, ends] : flows) {
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends[0]["ph"], "s");
    EXPECT_EQ(ends[1]["ph"], "f");
    EXPECT_LT(ends[0]["ts"].get<double>(), ends[1]["ts"].get<double>());
  }
}

TEST(RowsOfIntervals, OverlapNowhere) {
  EXPECT_THAT(tools::rows_of({{0, 10}, {1, 3}, {2, 4}, {3, 12}, {10, 11}}), testing::ElementsAre(0, 1, 2, 1, 0));
  EXPECT_TRUE(tools::rows_of({}).empty());
}

TEST(TracksOfARank, HaveExchangesWaitsAndTheThreadWithoutOverlap) {
  TraceBuilder one(0, 1);
  one.start(2000, 1, 1).start(2100, 2, 2).round(2200, 1, 1).end(2500, 1).end(2600, 2).start(2700, 3, 3).end(2800, 3);
  one.wait(2150, 2500, 1).wait(2300, 2600, 2).sleep(1500, 1900).sleep(2050, 2400);
  const Timeline timeline = make_timeline(traces_of(one));
  const tools::RankTimeline& rank = timeline.of_rank[0];
  const tools::ExchangeTracks tracks(rank);
  EXPECT_THAT(tracks.names, testing::ElementsAre("ring 1", "ring 2"));
  EXPECT_THAT(tracks.of_exchange, testing::ElementsAre(0, 1, 0));
  const std::vector<tools::Interval> rounds = tools::rounds_of(rank, rank.exchanges[0]);
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0].end, 2200);
  EXPECT_EQ(rounds[1].end, 2500);
  EXPECT_TRUE(tools::rounds_of(rank, rank.exchanges[1]).empty());
  const std::vector<tools::Wait> waits = tools::waits_in_turn(rank);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[1].time.begin, 2500);
  EXPECT_EQ(waits[1].time.end, 2600);
  EXPECT_EQ(tools::name_of(rank, waits[1]), "wait for ring");
  const std::vector<tools::Interval> awake = tools::awake_times(rank);
  ASSERT_EQ(awake.size(), 1u);
  EXPECT_EQ(awake[0].begin, 1900);
  EXPECT_EQ(awake[0].end, 2050);
}

// The unit tests are built without OTF2; tests/tools/otf2_test.py looks at archives.
TEST(ArchiveOfATimeline, NamesWhatIsMissingWhereThereIsNoOtf2) {
  expect_error(Errc::invalid_argument, {"built without OTF2", "libopen-trace-format2-dev", "FAB_OTF2"},
               [] { tools::write_otf2({}, "folder"); });
}

TEST(PictureOfATimeline, FindsStepsOrTellsWhatThereIs) {
  TraceBuilder one(0, 2);
  one.start(2000, 1, 4).end(3000, 1).start(4000, 2, 5).end(5000, 2).start(6000, 3, 6).end(7000, 3);
  TraceBuilder other(1, 2);
  other.start(1900, 1, 4).end(2900, 1).start(4100, 2, 5).end(5200, 2);
  Timeline timeline = make_timeline(traces_of(one, other));
  tools::align_clocks(timeline);
  const tools::Interval time = tools::time_of_steps(timeline, "ring", 4, 5);
  EXPECT_EQ(time.begin, 900);
  EXPECT_EQ(time.end, 4200);
  expect_error(Errc::invalid_argument, {"7:9", "\"ring\"", "ring 4:6"},
               [&] { static_cast<void>(tools::time_of_steps(timeline, "ring", 7, 9)); });
  const std::string svg = tools::to_svg(timeline, {.time = time, .last_rank = 1, .title = "two & <three>"});
  EXPECT_THAT(svg, HasSubstr("two &amp; &lt;three&gt;"));
  EXPECT_THAT(svg, HasSubstr("rank 1"));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  const std::string of_one = tools::to_svg(timeline, {.time = time, .last_rank = 0, .title = ""});
  EXPECT_THAT(of_one, testing::Not(HasSubstr("rank 1")));
}

}  // namespace
}  // namespace fab::test
