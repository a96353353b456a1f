#include "bindings/tools/trace/chrome_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bindings/tools/trace/trace_report.h"
#include "bindings/tools/trace/tracks.h"

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
  [[nodiscard]] const ExchangeTracks& tracks_of(const RankTimeline& rank) const {
    return tracks_[static_cast<std::size_t>(&rank - timeline_.of_rank.data())];
  }

  [[nodiscard]] int track_of(const RankTimeline& rank, std::size_t exchange) const {
    return kFirstOperation + static_cast<int>(tracks_of(rank).of_exchange[exchange]);
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

  void waits(const RankTimeline& rank) {
    for (const Wait& wait : waits_in_turn(rank)) {
      ordered_json args = ordered_json::object();
      if (wait.exchange != kNone) args["step"] = rank.exchanges[wait.exchange].step;
      slice(rank, kWaits, name_of(rank, wait), wait.time, args);
    }
  }

  void sleeps(const RankTimeline& rank) {
    for (const Interval& time : awake_times(rank)) slice(rank, kThread, "awake", time);
  }

  void exchange(const RankTimeline& rank, std::size_t number) {
    const Exchange& exchange = rank.exchanges[number];
    const core::TracedOperation& operation = rank.operations[exchange.operation];
    const int track = track_of(rank, number);
    ordered_json args{{"step", exchange.step},
                      {"communicator", operation.communicator},
                      {"sends", exchange.sends},
                      {"receives", exchange.receives}};
    if (!operation.algorithm.empty()) args["algorithm"] = operation.algorithm;
    if (exchange.failed) args["failed"] = true;
    if (exchange.end == kNever) args["unfinished"] = true;
    slice(rank, track, operation.operation, time_of(rank, exchange), args);
    const std::vector<Interval> rounds = rounds_of(rank, exchange);
    for (std::size_t round = 0; round < rounds.size(); ++round)
      slice(rank, track, fmt::format("round {}", round), rounds[round]);
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
                        flows_, rank.rank, track_of(rank, its.exchange),
                        stamp(std::clamp(time, around.begin, around.end)), args.dump()));
    };
    end(R"("ph":"s")", source, send, send.posted);
    end(R"("ph":"f","bp":"e")", destination, receive, receive.done);
    ++flows_;
  }

  const Timeline& timeline_;
  const std::function<void(std::string_view)>& write_;
  std::vector<ExchangeTracks> tracks_;
  std::size_t flows_ = 0;
  bool any_ = false;
};

}  // namespace

void write_chrome_trace(const Timeline& timeline, const std::function<void(std::string_view)>& write) {
  Writer(timeline, write).write();
}

}  // namespace fab::tools
