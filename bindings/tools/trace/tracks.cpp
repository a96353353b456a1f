#include "bindings/tools/trace/tracks.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "bindings/tools/trace/trace_report.h"

namespace fab::tools {

std::vector<std::size_t> rows_of(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> rows;
  std::vector<Time> ends;
  for (const Interval& interval : intervals) {
    const auto free = std::ranges::find_if(ends, [&](Time end) { return end <= interval.begin; });
    rows.push_back(static_cast<std::size_t>(free - ends.begin()));
    if (free == ends.end())
      ends.push_back(interval.end);
    else
      *free = interval.end;
  }
  return rows;
}

ExchangeTracks::ExchangeTracks(const RankTimeline& rank) : of_exchange(rank.exchanges.size()) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < rank.exchanges.size(); ++i)
    by_name[name_of(rank.operations[rank.exchanges[i].operation])].push_back(i);
  for (const auto& [name, exchanges] : by_name) {
    std::vector<Interval> times;
    for (const std::size_t i : exchanges) times.push_back(time_of(rank, rank.exchanges[i]));
    const std::vector<std::size_t> rows = rows_of(times);
    const std::size_t first = names.size();
    for (std::size_t i = 0; i < rows.size(); ++i) of_exchange[exchanges[i]] = first + rows[i];
    const std::size_t count = *std::ranges::max_element(rows) + 1;
    for (std::size_t row = 0; row < count; ++row)
      names.push_back(count == 1 ? name : fmt::format("{} {}", name, row + 1));
  }
}

std::vector<Interval> rounds_of(const RankTimeline& rank, const Exchange& exchange) {
  std::vector<Interval> rounds;
  if (exchange.rounds.empty()) return rounds;
  Time begin = exchange.start;
  for (const Time next : exchange.rounds) {
    rounds.push_back({begin, next});
    begin = next;
  }
  rounds.push_back({begin, time_of(rank, exchange).end});
  return rounds;
}

std::vector<Wait> waits_in_turn(const RankTimeline& rank) {
  std::vector<Wait> waits = rank.waits;
  std::ranges::stable_sort(waits, {}, [](const Wait& wait) { return wait.time.begin; });
  Time last = 0;
  for (Wait& wait : waits) {
    wait.time = {std::max(wait.time.begin, last), std::max(wait.time.end, last)};
    last = wait.time.end;
  }
  return waits;
}

std::string name_of(const RankTimeline& rank, const Wait& wait) {
  if (wait.exchange == kNone) return "wait";
  return "wait for " + name_of(rank.operations[rank.exchanges[wait.exchange].operation]);
}

std::vector<Interval> awake_times(const RankTimeline& rank) {
  std::vector<Interval> times;
  for (std::size_t i = 1; i < rank.sleeps.size(); ++i) times.push_back({rank.sleeps[i - 1].end, rank.sleeps[i].begin});
  return times;
}

}  // namespace fab::tools
