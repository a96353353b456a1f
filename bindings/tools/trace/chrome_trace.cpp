#include "bindings/tools/trace/chrome_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bindings/tools/trace/trace_report.h"

namespace fab::tools {

namespace {

using nlohmann::ordered_json;

constexpr int kWaits = 1;
constexpr int kThread = 2;
constexpr int kFirstOperation = 3;

/// In microseconds, to the nanosecond.
std::string stamp(Time time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

class Writer {
 public:
  Writer(const Timeline& timeline, const std::function<void(std::string_view)>& write)
      : timeline_(timeline), write_(write) {
    for (const RankTimeline& rank : timeline.of_rank) tracks_.emplace_back(rank);
  }

  void write() {
    write_("{\"displayTimeUnit\":\"ns\",\"otherData\":");
    write_(ordered_json{{"program", "fab_trace"}, {"ranks", timeline_.ranks}, {"notes", timeline_.notes}}.dump());
    write_(",\"traceEvents\":[\n");
    for (const RankTimeline& rank : timeline_.of_rank) {
      name_tracks(rank);
      waits(rank);
      sleeps(rank);
      for (std::size_t i = 0; i < rank.exchanges.size(); ++i) exchange(rank, i);
      for (std::size_t i = 0; i < rank.sends.size(); ++i) message(rank, rank.sends[i]);
    }
    write_("\n]}\n");
  }

 private:
  /// The track of each exchange of a rank, and what tracks are called.
  struct Tracks {
    explicit Tracks(const RankTimeline& rank) : of_exchange(rank.exchanges.size()) {
      std::map<std::string, std::vector<std::size_t>> by_name;
      for (std::size_t i = 0; i < rank.exchanges.size(); ++i)
        by_name[name_of(rank.operations[rank.exchanges[i].operation])].push_back(i);
      for (const auto& [name, exchanges] : by_name) {
        std::vector<Interval> times;
        for (const std::size_t i : exchanges) times.push_back(time_of(rank, rank.exchanges[i]));
        const std::vector<std::size_t> rows = rows_of(times);
        const int first = kFirstOperation + static_cast<int>(names.size());
        for (std::size_t i = 0; i < rows.size(); ++i) of_exchange[exchanges[i]] = first + static_cast<int>(rows[i]);
        const std::size_t count = *std::ranges::max_element(rows) + 1;
        for (std::size_t row = 0; row < count; ++row)
          names.push_back(count == 1 ? name : fmt::format("{} {}", name, row + 1));
      }
    }

    std::vector<int> of_exchange;
    std::vector<std::string> names;
  };

  [[nodiscard]] const Tracks& tracks_of(const RankTimeline& rank) const {
    return tracks_[static_cast<std::size_t>(&rank - timeline_.of_rank.data())];
  }

  void event(const std::string& text) {
    if (std::exchange(any_, true)) write_(",\n");
    write_(text);
  }

  void slice(const RankTimeline& rank, int track, const std::string& name, const Interval& time,
             const ordered_json& more = ordered_json::object()) {
    event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{},"args":{}}})", rank.rank, track,
                      ordered_json(name).dump(), stamp(time.begin), stamp(time.end - time.begin), more.dump()));
  }

  void name_tracks(const RankTimeline& rank) {
    const auto meta = [&](const char* what, int track, const ordered_json& args) {
      event(
          fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{}}})", rank.rank, track, what, args.dump()));
    };
    meta("process_name", 0, {{"name", fmt::format("rank {} ({})", rank.rank, rank.host)}});
    meta("process_sort_index", 0, {{"sort_index", rank.rank}});
    const auto track = [&](int number, const std::string& name) {
      meta("thread_name", number, {{"name", name}});
      meta("thread_sort_index", number, {{"sort_index", number}});
    };
    track(kWaits, "waits");
    track(kThread, "progress thread");
    int number = kFirstOperation;
    for (const std::string& name : tracks_of(rank).names) track(number++, name);
  }

  // Of several threads that wait the tracks would overlap: the later ones' begin when the earlier one ends.
  void waits(const RankTimeline& rank) {
    Time last = 0;
    std::vector<const Wait*> by_begin;
    for (const Wait& wait : rank.waits) by_begin.push_back(&wait);
    std::ranges::stable_sort(by_begin, {}, [](const Wait* wait) { return wait->time.begin; });
    for (const Wait* wait : by_begin) {
      const Interval time{std::max(wait->time.begin, last), std::max(wait->time.end, last)};
      last = time.end;
      if (wait->exchange == kNone) {
        slice(rank, kWaits, "wait", time);
        continue;
      }
      const Exchange& exchange = rank.exchanges[wait->exchange];
      slice(rank, kWaits, "wait for " + name_of(rank.operations[exchange.operation]), time, {{"step", exchange.step}});
    }
  }

  /// Between its sleeps the thread is awake.
  void sleeps(const RankTimeline& rank) {
    for (std::size_t i = 1; i < rank.sleeps.size(); ++i)
      slice(rank, kThread, "awake", {rank.sleeps[i - 1].end, rank.sleeps[i].begin});
  }

  void exchange(const RankTimeline& rank, std::size_t number) {
    const Exchange& exchange = rank.exchanges[number];
    const core::TracedOperation& operation = rank.operations[exchange.operation];
    const int track = tracks_of(rank).of_exchange[number];
    const Interval time = time_of(rank, exchange);
    ordered_json args{{"step", exchange.step},
                      {"communicator", operation.communicator},
                      {"sends", exchange.sends},
                      {"receives", exchange.receives}};
    if (!operation.algorithm.empty()) args["algorithm"] = operation.algorithm;
    if (exchange.failed) args["failed"] = true;
    if (exchange.end == kNever) args["unfinished"] = true;
    slice(rank, track, operation.operation, time, args);
    if (exchange.rounds.empty()) return;
    Time begin = exchange.start;
    for (std::size_t round = 0; round <= exchange.rounds.size(); ++round) {
      const Time end = round < exchange.rounds.size() ? exchange.rounds[round] : time.end;
      slice(rank, track, fmt::format("round {}", round), {begin, end});
      begin = end;
    }
  }

  /// An arrow binds to the slice around its end; a message may arrive after its exchange was given up.
  void message(const RankTimeline& source, const MessageEnd& send) {
    if (send.other == kNone) return;
    const RankTimeline& destination = *timeline_.find(send.peer);
    const MessageEnd& receive = destination.receives[send.other];
    const auto end = [&](const char* phase, const RankTimeline& rank, const MessageEnd& its, Time time) {
      const Interval around = time_of(rank, rank.exchanges[its.exchange]);
      const ordered_json args{{"bytes", send.bytes}, {"way", way_of(source, send)}, {"round", its.round}};
      event(fmt::format(R"({{{},"cat":"message","name":"message","id":{},"pid":{},"tid":{},"ts":{},"args":{}}})", phase,
                        flows_, rank.rank, tracks_of(rank).of_exchange[its.exchange],
                        stamp(std::clamp(time, around.begin, around.end)), args.dump()));
    };
    end(R"("ph":"s")", source, send, send.posted);
    end(R"("ph":"f","bp":"e")", destination, receive, receive.done);
    ++flows_;
  }

  const Timeline& timeline_;
  const std::function<void(std::string_view)>& write_;
  std::vector<Tracks> tracks_;
  std::size_t flows_ = 0;
  bool any_ = false;
};

}  // namespace

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

void write_chrome_trace(const Timeline& timeline, const std::function<void(std::string_view)>& write) {
  Writer(timeline, write).write();
}

}  // namespace fab::tools
