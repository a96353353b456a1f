#include "bindings/tools/trace/trace_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace fab::tools {

namespace {

/// Times in which a rank waited, without overlaps, and how much of them lies before a time.
class WaitedTime {
 public:
  explicit WaitedTime(const std::vector<Wait>& waits) {
    std::vector<Interval> all;
    for (const Wait& wait : waits) all.push_back(wait.time);
    std::ranges::sort(all, {}, &Interval::begin);
    for (const Interval& each : all) {
      if (!spans_.empty() && each.begin <= spans_.back().end)
        spans_.back().end = std::max(spans_.back().end, each.end);
      else
        spans_.push_back(each);
    }
    Time sum = 0;
    for (const Interval& span : spans_) {
      before_.push_back(sum);
      sum += span.end - span.begin;
    }
    total_ = sum;
  }

  [[nodiscard]] Time total() const noexcept { return total_; }
  [[nodiscard]] Time within(const Interval& time) const { return until(time.end) - until(time.begin); }

 private:
  [[nodiscard]] Time until(Time time) const {
    const auto next = std::ranges::upper_bound(spans_, time, {}, &Interval::begin);
    if (next == spans_.begin()) return 0;
    const auto last = static_cast<std::size_t>(next - spans_.begin()) - 1;
    return before_[last] + std::min(time, spans_[last].end) - spans_[last].begin;
  }

  std::vector<Interval> spans_;
  std::vector<Time> before_;
  Time total_ = 0;
};

Time awake(const RankTimeline& rank) {
  if (rank.sleeps.empty()) return 0;
  Time asleep = 0;
  for (const Interval& sleep : rank.sleeps) asleep += sleep.end - sleep.begin;
  return rank.sleeps.back().end - rank.sleeps.front().begin - asleep;
}

bool blames(const LateWait& wait) {
  return wait.reason == Reason::started_late || wait.reason == Reason::posted_late ||
         wait.reason == Reason::received_late;
}

const core::TracedOperation& operation_of(const RankTimeline& rank, std::size_t exchange) {
  return rank.operations[rank.exchanges[exchange].operation];
}

auto key_of(const core::TracedOperation& operation) {
  return std::tuple(operation.operation, operation.algorithm, operation.communicator);
}

double us(Time time) { return static_cast<double>(time) / 1e3; }

/// "1.234 ms", "812.0 us", "3.200 s"
std::string time_text(Time time) {
  if (time < 1'000'000) return fmt::format("{:.1f} us", us(time));
  if (time < 1'000'000'000) return fmt::format("{:.3f} ms", us(time) / 1e3);
  return fmt::format("{:.3f} s", us(time) / 1e6);
}

std::string cause_text(const LateWait& wait) {
  switch (wait.reason) {
    case Reason::started_late:
      return fmt::format("rank {}, which started {} late", wait.late, time_text(wait.late_by));
    case Reason::received_late:
      return fmt::format("rank {}, which began to receive {} late", wait.late, time_text(wait.late_by));
    case Reason::posted_late:
      return fmt::format("rank {}, which sent late", wait.late);
    case Reason::on_the_way:
      return fmt::format("a message of rank {} on its way", wait.late);
    case Reason::unknown:
      break;
  }
  return wait.late == kNoRank ? "what is not recorded" : fmt::format("rank {}", wait.late);
}

std::string wait_text(const LateWait& wait, const Timeline& timeline) {
  const RankTimeline& rank = *timeline.find(wait.rank);
  std::string text = wait.exchange == kNone ? "an earlier start"
                                            : fmt::format("step {} of {}", rank.exchanges[wait.exchange].step,
                                                          name_of(operation_of(rank, wait.exchange)));
  text += fmt::format(": rank {} waited {} for {}", wait.rank, time_text(wait.took), cause_text(wait));
  if (wait.through != kNoRank) text += fmt::format(", through rank {}", wait.through);
  return text + fmt::format(" (at {:.6f} s)", static_cast<double>(rank.waits[wait.wait].time.begin) / 1e9);
}

nlohmann::ordered_json to_json(const LateWait& wait, const Timeline& timeline) {
  const RankTimeline& rank = *timeline.find(wait.rank);
  nlohmann::ordered_json row{{"rank", wait.rank},
                             {"begin_ns", rank.waits[wait.wait].time.begin},
                             {"waited_ns", wait.took},
                             {"reason", to_string(wait.reason)}};
  if (wait.late != kNoRank) row["for_rank"] = wait.late;
  if (wait.through != kNoRank) row["through_rank"] = wait.through;
  if (wait.late_by > 0) row["late_by_ns"] = wait.late_by;
  if (wait.exchange != kNone) {
    const core::TracedOperation& operation = operation_of(rank, wait.exchange);
    row["operation"] = operation.operation;
    row["algorithm"] = operation.algorithm;
    row["communicator"] = operation.communicator;
    row["step"] = rank.exchanges[wait.exchange].step;
  }
  return row;
}

std::string ranks_text(const TraceReport& report) {
  std::string text = fmt::format("{:>6} {:>12} {:>12} {:>7} {:>9} {:>14} {:>9} {:>8}  {}\n", "rank", "time, ms",
                                 "waited, ms", "waited", "waits", "kept waiting", "in waits", "thread", "host");
  for (const RankTime& rank : report.ranks) {
    const auto share = [&](Time part) {
      return rank.took == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(rank.took);
    };
    text += fmt::format("{:>6} {:>12.3f} {:>12.3f} {:>5.1f} % {:>9} {:>11.3f} ms {:>9} {:>6.1f} %  {}\n", rank.rank,
                        us(rank.took) / 1e3, us(rank.waited) / 1e3, share(rank.waited), rank.waits,
                        us(rank.kept_waiting) / 1e3, rank.kept_waits, share(rank.thread_awake), rank.host);
  }
  return text;
}

std::string operations_text(const TraceReport& report) {
  std::string text = fmt::format("{:<36} {:>6} {:>9} {:>12} {:>12} {:>12} {:>8} {:>14}\n", "operation", "rank",
                                 "starts", "mean, us", "longest, us", "waited, ms", "overlap", "late starts, ms");
  for (const OperationTime& row : report.operations)
    text += fmt::format("{:<36} {:>6} {:>9} {:>12.1f} {:>12.1f} {:>12.3f} {:>6.1f} % {:>14.3f}\n",
                        name_of(row.operation), row.rank, row.starts, us(row.took) / static_cast<double>(row.starts),
                        us(row.longest), us(row.waited) / 1e3, 100 * row.overlap(), us(row.late_starts) / 1e3);
  return text;
}

}  // namespace

std::string name_of(const core::TracedOperation& operation) {
  std::string name = operation.operation;
  if (!operation.algorithm.empty()) name += fmt::format(" ({})", operation.algorithm);
  if (operation.communicator != "world" && !is_point_to_point(operation))
    name += fmt::format(" on {}", operation.communicator);
  return name;
}

TraceReport make_report(const Timeline& timeline) {
  TraceReport report{.waits = find_late_ranks(timeline)};
  std::map<std::tuple<std::string, std::string, std::string, Rank>, OperationTime> operations;
  for (const RankTimeline& rank : timeline.of_rank) {
    const WaitedTime waited(rank.waits);
    report.ranks.push_back({.rank = rank.rank,
                            .host = rank.host,
                            .took = rank.span.end - rank.span.begin,
                            .waited = waited.total(),
                            .waits = rank.waits.size(),
                            .thread_awake = awake(rank),
                            .lost = rank.lost});
    for (const Exchange& exchange : rank.exchanges) {
      if (exchange.end == kNever) continue;
      const core::TracedOperation& operation = rank.operations[exchange.operation];
      OperationTime& row = operations[std::tuple_cat(key_of(operation), std::tuple(rank.rank))];
      row.rank = rank.rank;
      row.operation = operation;
      ++row.starts;
      row.failed += exchange.failed ? 1 : 0;
      row.took += exchange.end - exchange.start;
      row.waited += waited.within({exchange.start, exchange.end});
      row.longest = std::max(row.longest, exchange.end - exchange.start);
    }
  }
  for (const LateWait& wait : report.waits) {
    if (wait.reason == Reason::started_late) {
      const core::TracedOperation& operation = operation_of(*timeline.find(wait.rank), wait.exchange);
      const auto found = operations.find(std::tuple_cat(key_of(operation), std::tuple(wait.rank)));
      if (found != operations.end()) found->second.late_starts += wait.took;
    }
    const auto late = std::ranges::find(report.ranks, wait.late, &RankTime::rank);
    if (!blames(wait) || late == report.ranks.end()) continue;
    late->kept_waiting += wait.took;
    ++late->kept_waits;
  }
  for (auto& [key, row] : operations) report.operations.push_back(std::move(row));
  return report;
}

std::string to_text(const TraceReport& report, const Timeline& timeline, std::size_t most_waits) {
  std::string text = fmt::format("{} of {} ranks; {} messages with both ends, {} with one\n", timeline.of_rank.size(),
                                 timeline.ranks, timeline.messages, timeline.lonely);
  for (const std::string& note : timeline.notes) text += note + '\n';
  for (const RankTime& rank : report.ranks)
    if (rank.lost > 0)
      text += fmt::format("rank {} has lost its first {} records (FAB_TRACE_EVENTS)\n", rank.rank, rank.lost);
  text += '\n' + ranks_text(report) + '\n' + operations_text(report);
  if (!report.waits.empty()) text += "\nlongest waits\n";
  for (std::size_t i = 0; i < std::min(most_waits, report.waits.size()); ++i)
    text += wait_text(report.waits[i], timeline) + '\n';
  return text;
}

std::string to_json(const TraceReport& report, const Timeline& timeline, std::size_t most_waits) {
  using nlohmann::ordered_json;
  ordered_json ranks = ordered_json::array();
  for (const RankTime& rank : report.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"host", rank.host},
                     {"time_ns", rank.took},
                     {"waited_ns", rank.waited},
                     {"waits", rank.waits},
                     {"kept_waiting_ns", rank.kept_waiting},
                     {"kept_waits", rank.kept_waits},
                     {"thread_awake_ns", rank.thread_awake},
                     {"lost", rank.lost}});
  ordered_json operations = ordered_json::array();
  for (const OperationTime& row : report.operations)
    operations.push_back({{"operation", row.operation.operation},
                          {"algorithm", row.operation.algorithm},
                          {"communicator", row.operation.communicator},
                          {"rank", row.rank},
                          {"starts", row.starts},
                          {"failed", row.failed},
                          {"time_ns", row.took},
                          {"longest_ns", row.longest},
                          {"waited_ns", row.waited},
                          {"overlap", row.overlap()},
                          {"late_starts_ns", row.late_starts}});
  ordered_json waits = ordered_json::array();
  for (std::size_t i = 0; i < std::min(most_waits, report.waits.size()); ++i)
    waits.push_back(to_json(report.waits[i], timeline));
  return ordered_json{{"version", 1},
                      {"job_ranks", timeline.ranks},
                      {"messages", timeline.messages},
                      {"lonely_ends", timeline.lonely},
                      {"notes", timeline.notes},
                      {"ranks", ranks},
                      {"operations", operations},
                      {"waits", waits}}
             .dump(2) +
         '\n';
}

}  // namespace fab::tools
