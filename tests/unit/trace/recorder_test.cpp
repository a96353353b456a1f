// The recorder: what it keeps when it wraps and when threads meet, and what exchanges and messages record.
#include "core/trace/recorder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

#include "core/trace/trace_file.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/patterns.h"

namespace fab::test {
namespace {

using core::Recorder;
using core::TraceEvent;
using core::TraceRecord;

TraceRecord numbered(std::uint64_t number) {
  return {.time_ns = 2 + number,
          .word = number * 7,
          .details = TraceRecord::pack(TraceEvent::send, number),
          .exchange = static_cast<std::uint32_t>(number * 5),
          .peer = static_cast<Rank>(number)};
}

TEST(TraceRecordFields, StandSideBySide) {
  const TraceRecord record{.details = TraceRecord::pack(TraceEvent::received, 123'456'789'012, 1234, 7)};
  EXPECT_EQ(record.event(), TraceEvent::received);
  EXPECT_EQ(record.bytes(), 123'456'789'012u);
  EXPECT_EQ(record.round(), 1234u);
  EXPECT_EQ(record.way(), 7u);
}

TEST(TraceRecordFields, AreTheLargestWhereNumbersAreLarger) {
  const TraceRecord record{.details = TraceRecord::pack(TraceEvent::send, ~std::uint64_t{0}, ~0u, 15)};
  EXPECT_EQ(record.event(), TraceEvent::send);
  EXPECT_EQ(record.bytes(), TraceRecord::kMostBytes);
  EXPECT_EQ(record.round(), TraceRecord::kLastRound);
  EXPECT_EQ(record.way(), 15u);
}

TEST(TraceRecorder, KeepsAllThatFit) {
  Recorder recorder(64);
  for (std::uint64_t i = 0; i < 64; ++i) recorder.record(numbered(i));
  const Recorder::Kept kept = recorder.read();
  EXPECT_EQ(kept.lost, 0u);
  ASSERT_EQ(kept.records.size(), 64u);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(kept.records[i], numbered(i));
}

TEST(TraceRecorder, KeepsTheNewestWhenItWraps) {
  Recorder recorder(50);
  EXPECT_EQ(recorder.capacity(), 64u) << "rounded up";
  for (std::uint64_t i = 0; i < 1000; ++i) recorder.record(numbered(i));
  const Recorder::Kept kept = recorder.read();
  EXPECT_EQ(kept.lost, 936u);
  ASSERT_EQ(kept.records.size(), 64u);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(kept.records[i], numbered(936 + i));
}

TEST(TraceRecorder, IsEmptyAtFirst) {
  const Recorder::Kept kept = Recorder(16).read();
  EXPECT_TRUE(kept.records.empty());
  EXPECT_EQ(kept.lost, 0u);
}

TEST(TraceRecorder, TellsWaysApartByTheirAddresses) {
  Recorder recorder(16);
  static constexpr std::string_view kCell = "cell";
  static constexpr std::string_view kRing = "ring";
  EXPECT_EQ(recorder.number_of({}), 0u);
  EXPECT_EQ(recorder.number_of(kCell), 1u);
  EXPECT_EQ(recorder.number_of(kRing), 2u);
  EXPECT_EQ(recorder.number_of(kCell), 1u);
  EXPECT_THAT(recorder.ways(), testing::ElementsAre("", "cell", "ring"));
}

// Each record is whole, also those that are read while others are written.
TEST(TraceRecorder, KeepsRecordsWholeWhereThreadsMeet) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kEach = 20'000;
  Recorder recorder(256);
  const auto check = [&](const Recorder::Kept& kept) {
    std::set<std::uint64_t> seen;
    for (const TraceRecord& record : kept.records) {
      EXPECT_EQ(record, numbered(record.time_ns - 2));
      EXPECT_TRUE(seen.insert(record.time_ns).second) << "twice";
    }
  };
  std::atomic<std::uint64_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < kEach; ++i) recorder.record(numbered(thread * kEach + i));
      --running;
    });
  while (running > 0) check(recorder.read());
  for (std::thread& each : threads) each.join();
  const Recorder::Kept kept = recorder.read();
  check(kept);
  EXPECT_GT(kept.records.size(), 0u);
  EXPECT_EQ(kept.records.size() + kept.lost, kThreads * kEach);
}

// What ranks record.

class RecordedJob : public testing::Test {
 protected:
  static Config recording() {
    Config config = caller_config();
    config.trace_file = testing::TempDir() + "recorder_test";
    config.trace_events = 4096;
    return config;
  }
  [[nodiscard]] std::vector<TraceRecord> records(Rank rank, TraceEvent event) {
    std::vector<TraceRecord> found = job_.context(rank).engine().recorder()->read().records;
    std::erase_if(found, [event](const TraceRecord& record) { return record.event() != event; });
    return found;
  }
  [[nodiscard]] std::vector<TraceRecord> sends(Rank rank) {
    std::vector<TraceRecord> found = records(rank, TraceEvent::send);
    for (const TraceRecord& record : records(rank, TraceEvent::send_done)) found.push_back(record);
    return found;
  }

  /// Ranks write them when they end.
  struct Files {
    ~Files() {
      for (Rank rank = 0; rank < 3; ++rank) std::remove(core::trace_file_of(recording().trace_file, rank).c_str());
    }
  } files_;
  InProcessJob job_{3, recording(), {}};
};

TEST_F(RecordedJob, HasEachMessageOfAnExchangeAtBothEnds) {
  constexpr std::size_t kStarts = 4;
  const auto communicators = job_.communicators([](Rank) { return std::nullopt; });
  for (std::size_t i = 0; i < kStarts; ++i) {
    Ring ring(3, 100);
    std::vector<core::Run*> runs;
    for (const auto& communicator : communicators)
      runs.push_back(
          &start_locked(*communicator, [&](core::Communicator& its) -> core::Run& { return ring.start(its); }));
    job_.finish(runs);
    for (core::Run* run : runs) EXPECT_TRUE(release(*run).ok());
  }
  for (Rank rank = 0; rank < 3; ++rank) {
    const auto starts = records(rank, TraceEvent::start);
    ASSERT_EQ(starts.size(), kStarts);
    for (std::size_t i = 0; i < kStarts; ++i) EXPECT_EQ(starts[i].bytes(), i + 1) << "the step";
    EXPECT_EQ(records(rank, TraceEvent::end).size(), kStarts);
    EXPECT_EQ(records(rank, TraceEvent::received).size(), 2 * kStarts);
    ASSERT_EQ(sends(rank).size(), 2 * kStarts);
    for (const TraceRecord& send : sends(rank)) {
      const auto arrivals = records(send.peer, TraceEvent::received);
      const auto arrived = std::ranges::count_if(arrivals, [&](const TraceRecord& received) {
        return received.peer == rank && received.word == send.word && received.bytes() == send.bytes() &&
               received.time_ns >= send.time_ns;
      });
      EXPECT_EQ(arrived, 1);
    }
  }
}

TEST_F(RecordedJob, NamesOperationsByTheirRows) {
  const auto communicators = job_.communicators([](Rank) { return std::nullopt; });
  Ring ring(3, 8);
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators)
    runs.push_back(
        &start_locked(*communicator, [&](core::Communicator& its) -> core::Run& { return ring.start(its); }));
  job_.finish(runs);
  for (core::Run* run : runs) EXPECT_TRUE(release(*run).ok());
  const auto starts = records(1, TraceEvent::start);
  ASSERT_EQ(starts.size(), 1u);
  const auto names = job_.context(1).ledger().names();
  ASSERT_LT(static_cast<std::size_t>(starts[0].peer), names.size());
  EXPECT_EQ(names[static_cast<std::size_t>(starts[0].peer)].operation, "ring");
}

TEST(UnrecordedJob, HasNoRecorder) {
  InProcessJob job(1, caller_config(), {});
  EXPECT_EQ(job.context(0).engine().recorder(), nullptr);
}

}  // namespace
}  // namespace fab::test
