// The timeline of a job: exchanges, messages, waits and sleeps of progress threads, with their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bindings/tools/trace/trace_reader.h"

namespace fab::tools {

/// In nanoseconds since the begin of the timeline, once clocks are aligned (align_clocks).
using Time = std::int64_t;
inline constexpr Time kNever = -1;
inline constexpr std::size_t kNone = ~std::size_t{0};

struct Interval {
  Time begin = 0;
  Time end = 0;
};

/// A start, up to its end: of an exchange, or of a message from rank to rank.
struct Exchange {
  std::uint32_t number = 0;   ///< on its rank
  std::size_t operation = 0;  ///< in RankTimeline::operations
  std::uint64_t step = 0;     ///< how many-eth start of its operation, from 1 on
  std::uint64_t word = 0;     ///< see TraceEvent::start
  Time start = 0;
  Time end = kNever;
  bool failed = false;
  std::vector<Time> rounds{};  ///< the begins of all but the first
  std::size_t sends = 0;
  std::size_t receives = 0;
};

struct Wait {
  Interval time{};
  std::size_t exchange = kNone;  ///< kNone: its start was lost
};

/// One end of a message.
struct MessageEnd {
  std::uint64_t key = 0;
  Rank peer = 0;
  std::uint64_t bytes = 0;
  std::uint32_t round = 0;
  std::size_t exchange = 0;
  Time posted = kNever;       ///< sends
  Time done = kNever;         ///< the buffer is free, or the message in its place
  unsigned way = 0;           ///< sends, in RankTimeline::ways; 0: unknown
  std::size_t other = kNone;  ///< the other end, among the peer's
};

struct RankTimeline {
  Rank rank = 0;
  std::string host{};
  std::string clock{};
  core::ClockPair begin{};
  core::ClockPair end{};
  std::uint64_t lost = 0;
  std::vector<std::string> ways{};
  std::vector<core::TracedOperation> operations{};
  std::vector<Exchange> exchanges{};  ///< by start
  std::vector<Wait> waits{};          ///< by end
  std::vector<Interval> sleeps{};     ///< of the progress thread
  std::vector<MessageEnd> sends{};    ///< by time
  std::vector<MessageEnd> receives{};
  Interval span{};  ///< from its first to its last record

  /// Calls `visit` with each time, kNever aside.
  void visit_times(const std::function<void(Time&)>& visit);
};

/// A message from rank to rank is known by no communicator.
[[nodiscard]] inline bool is_point_to_point(const core::TracedOperation& operation) {
  return operation.communicator == "all";
}

/// From its start to its end; one that has not ended lasts as long as its rank.
[[nodiscard]] Interval time_of(const RankTimeline& rank, const Exchange& exchange);
/// The way of a send: "cell", "tagged"; "unknown" where the address of its receiver was not known yet.
[[nodiscard]] std::string way_of(const RankTimeline& rank, const MessageEnd& send);

struct Timeline {
  int ranks = 0;                        ///< of the job
  std::vector<RankTimeline> of_rank{};  ///< those whose files were read, by rank
  std::size_t messages = 0;             ///< with both ends
  std::size_t lonely = 0;               ///< ends of messages whose other end is in no file, or was lost
  std::vector<std::string> notes{};     ///< about clocks, for people

  /// Null: its file was not read.
  [[nodiscard]] RankTimeline* find(Rank rank);
  [[nodiscard]] const RankTimeline* find(Rank rank) const;
};

/// Each rank by its own clock, messages with both their ends.
[[nodiscard]] Timeline make_timeline(std::vector<RankTrace> traces);

}  // namespace fab::tools
