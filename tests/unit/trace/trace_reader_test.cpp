// Trace files: what comes back from one, and what is said of files that are damaged or none.
#include "bindings/tools/trace/trace_reader.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/trace/trace_file.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using core::TraceEvent;
using core::TraceRecord;
using tools::parse_trace;

class TraceFiles : public testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& file : files_) std::remove(file.c_str());
  }
  /// Of a rank, as its end writes it; returns the name.
  std::string write(Rank rank, int ranks, const std::string& name = "trace") {
    core::Recorder recorder(16);
    recorder.record({.time_ns = 2000,
                     .word = 1,
                     .details = TraceRecord::pack(TraceEvent::send_done, 8, 0, recorder.number_of("cell")),
                     .exchange = 1,
                     .peer = 0});
    recorder.record(
        {.time_ns = 1000, .word = 77, .details = TraceRecord::pack(TraceEvent::start, 1), .exchange = 1, .peer = 0});
    const std::string file = core::trace_file_of(testing::TempDir() + name, rank);
    files_.push_back(file);
    core::write_trace(file,
                      {.rank = rank,
                       .ranks = ranks,
                       .transport = "shared \"memory\"",
                       .begin = {500, 100'500},
                       .end = {3000, 103'000},
                       .operations = {{"world", ranks, "bcast", "binomial"}}},
                      recorder);
    return file;
  }
  static std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
  }

 private:
  std::vector<std::string> files_;
};

TEST_F(TraceFiles, ComeBack) {
  const tools::RankTrace trace = parse_trace("file", contents(write(2, 3)));
  EXPECT_EQ(trace.head.rank, 2);
  EXPECT_EQ(trace.head.ranks, 3);
  EXPECT_EQ(trace.head.transport, "shared \"memory\"");
  EXPECT_EQ(trace.head.begin.monotonic_ns, 500u);
  EXPECT_EQ(trace.head.end.realtime_ns, 103'000u);
  EXPECT_EQ(trace.lost, 0u);
  EXPECT_FALSE(trace.clock.empty());
  EXPECT_THAT(trace.ways, testing::ElementsAre("", "cell"));
  ASSERT_EQ(trace.head.operations.size(), 1u);
  EXPECT_EQ(trace.head.operations[0].algorithm, "binomial");
  ASSERT_EQ(trace.records.size(), 2u);
  EXPECT_EQ(trace.records[0].event(), TraceEvent::start) << "by time";
  EXPECT_EQ(trace.records[1].way(), 1u);
}

TEST_F(TraceFiles, AreFoundByTheNameOfAll) {
  write(1, 2, "all");
  write(0, 2, "all");
  const auto traces = tools::read_traces({testing::TempDir() + "all"});
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0].head.rank, 0);
  EXPECT_EQ(traces[1].head.rank, 1);
}

TEST_F(TraceFiles, MustBeOfOneJob) {
  const std::string of_two = write(0, 2, "two");
  const std::string of_three = write(1, 3, "three");
  expect_error(Errc::mismatch, {"two.0", "three.1", "3 ranks", "one of 2"}, [&] {
    static_cast<void>(tools::read_traces({of_two, of_three}));
  });
  expect_error(Errc::mismatch, {"rank 0", "two.0"}, [&] { static_cast<void>(tools::read_traces({of_two, of_two})); });
}

TEST_F(TraceFiles, MustBeThere) {
  expect_error(Errc::invalid_argument, {"nowhere/at/all", "cannot be read"},
               [] { static_cast<void>(tools::read_traces({"nowhere/at/all"})); });
}

TEST_F(TraceFiles, MustBeFabs) {
  for (const char* other : {"", "FAB", "{\"rank\": 1}",
                            "\x7f"
                            "ELF and more than eight bytes"})
    expect_error(Errc::mismatch, {"\"name\"", "no trace of fab's"},
                 [&] { static_cast<void>(parse_trace("name", other)); });
}

TEST_F(TraceFiles, MustBeWhole) {
  const std::string whole = contents(write(0, 1));
  for (std::size_t bytes = core::kTraceMagic.size(); bytes < whole.size(); ++bytes)
    expect_error(Errc::mismatch, {"\"cut\""},
                 [&] { static_cast<void>(parse_trace("cut", std::string_view(whole).substr(0, bytes))); });
  expect_error(Errc::mismatch, {"bytes behind its sizes"},
               [&] { static_cast<void>(parse_trace("long", whole + "x")); });
}

TEST_F(TraceFiles, OfOtherVersionsAreRefused) {
  std::string other = contents(write(0, 1));
  other[8] = 9;
  expect_error(Errc::mismatch, {"version 9", "version 1"}, [&] { static_cast<void>(parse_trace("new", other)); });
  const std::uint32_t turned = __builtin_bswap32(core::kTraceVersion);
  std::memcpy(other.data() + 8, &turned, sizeof(turned));
  expect_error(Errc::mismatch, {"byte order"}, [&] { static_cast<void>(parse_trace("big", other)); });
}

TEST_F(TraceFiles, WithADamagedHeadAreRefused) {
  std::string damaged = contents(write(0, 1));
  damaged[damaged.find("\"rank\"")] = '?';
  expect_error(Errc::mismatch, {"head is damaged"}, [&] { static_cast<void>(parse_trace("file", damaged)); });
  std::string renamed = contents(write(0, 1));
  renamed[renamed.find("\"lost\"") + 1] = 'L';
  expect_error(Errc::mismatch, {"head is damaged"}, [&] { static_cast<void>(parse_trace("file", renamed)); });
}

/// Each byte of a file, turned over, gives a trace or an error, and nothing else.
TEST_F(TraceFiles, WithAnyDamagedByteAreReadOrRefused) {
  const std::string whole = contents(write(0, 1));
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    try {
      static_cast<void>(parse_trace("file", damaged));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), make_error_code(Errc::mismatch)) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size() / 4);
}

TEST_F(TraceFiles, ThatCannotBeWrittenAreNamed) {
  const core::Recorder recorder(16);
  expect_error(Errc::no_resources, {"/nowhere/trace.0"}, [&] { core::write_trace("/nowhere/trace.0", {}, recorder); });
}

}  // namespace
}  // namespace fab::test
