// Writes a timeline as an archive of OTF2, location by location.
#include "bindings/tools/trace/otf2_trace.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "bindings/tools/trace/otf2/otf2_archive.h"
#include "bindings/tools/trace/otf2/otf2_definitions.h"
#include "bindings/tools/trace/trace_report.h"
#include "bindings/tools/trace/tracks.h"

namespace fab::tools {

namespace {

/// Of each message end. Both ends of a message have the same, and no other message between the two ranks has it.
class Tags {
 public:
  explicit Tags(const Timeline& timeline) {
    for (const RankTimeline& rank : timeline.of_rank)
      for (const MessageEnd& send : rank.sends) sends_[rank.rank].push_back(next_[{rank.rank, send.peer}]++);
    for (const RankTimeline& rank : timeline.of_rank)
      for (const MessageEnd& receive : rank.receives)
        receives_[rank.rank].push_back(receive.other == kNone ? next_[{receive.peer, rank.rank}]++
                                                              : sends_[receive.peer][receive.other]);
  }

  [[nodiscard]] std::uint32_t of_send(Rank rank, std::size_t send) const { return sends_.at(rank)[send]; }
  [[nodiscard]] std::uint32_t of_receive(Rank rank, std::size_t receive) const { return receives_.at(rank)[receive]; }

 private:
  std::map<std::pair<Rank, Rank>, std::uint32_t> next_;  ///< by source and destination
  std::map<Rank, std::vector<std::uint32_t>> sends_;
  std::map<Rank, std::vector<std::uint32_t>> receives_;
};

/// On the first location of a rank.
struct RankEvent {
  enum class Kind : std::uint8_t { enter_wait, leave_wait, send, sent, receive };

  Time time;
  Kind kind;
  std::size_t place;  ///< among the rank's waits in turn, sends or receives
};

std::vector<RankEvent> events_of(const RankTimeline& rank, const std::vector<Wait>& waits) {
  using Kind = RankEvent::Kind;
  std::vector<RankEvent> events;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    events.push_back({waits[i].time.begin, Kind::enter_wait, i});
    events.push_back({waits[i].time.end, Kind::leave_wait, i});
  }
  for (std::size_t i = 0; i < rank.sends.size(); ++i) {
    events.push_back({rank.sends[i].posted, Kind::send, i});
    if (rank.sends[i].done != kNever) events.push_back({rank.sends[i].done, Kind::sent, i});
  }
  for (std::size_t i = 0; i < rank.receives.size(); ++i) events.push_back({rank.receives[i].done, Kind::receive, i});
  std::ranges::stable_sort(events, {}, &RankEvent::time);
  return events;
}

class Otf2Writer {
 public:
  Otf2Writer(const Timeline& timeline, const std::string& folder)
      : timeline_(timeline),
        tags_(timeline),
        archive_(folder),
        next_location_(static_cast<std::uint64_t>(timeline.ranks)) {}

  void write() {
    describe();
    for (Rank rank = 0; rank < timeline_.ranks; ++rank) write_rank(rank);
    for (const RankTimeline& rank : timeline_.of_rank) {
      write_exchanges(rank);
      write_thread(rank);
    }
    definitions_.write(archive_, timeline_);
    archive_.close();
  }

 private:
  void describe() {
    archive_.must(OTF2_Archive_SetCreator(archive_.get(), "fab_trace"), "OTF2_Archive_SetCreator");
    const std::string notes = fmt::format("{}", fmt::join(timeline_.notes, "\n"));
    archive_.must(OTF2_Archive_SetDescription(archive_.get(), notes.c_str()), "OTF2_Archive_SetDescription");
  }

  /// One without a file has no events, and keeps the number of its location.
  void write_rank(Rank number) {
    const auto location = static_cast<OTF2_LocationRef>(number);
    Otf2Events events(archive_, location);
    if (const RankTimeline* const rank = timeline_.find(number)) {
      const std::vector<Wait> waits = waits_in_turn(*rank);
      for (const RankEvent& event : events_of(*rank, waits)) write_event(events, *rank, waits, event);
    }
    definitions_.location(location, fmt::format("rank {}", number), number, events.close());
  }

  void write_event(Otf2Events& events, const RankTimeline& rank, const std::vector<Wait>& waits,
                   const RankEvent& event) {
    switch (event.kind) {
      case RankEvent::Kind::enter_wait:
        if (waits[event.place].exchange != kNone)
          events.attribute(kOtf2Step, rank.exchanges[waits[event.place].exchange].step);
        return events.enter(event.time, definitions_.region(name_of(rank, waits[event.place]), Otf2Kind::wait));
      case RankEvent::Kind::leave_wait:
        return events.leave(event.time, definitions_.region(name_of(rank, waits[event.place]), Otf2Kind::wait));
      case RankEvent::Kind::send: {
        const MessageEnd& send = rank.sends[event.place];
        events.attribute(kOtf2Round, send.round);
        events.string_attribute(kOtf2Way, definitions_.string(way_of(rank, send)));
        return events.send(event.time, send.peer, tags_.of_send(rank.rank, event.place), send.bytes, event.place);
      }
      case RankEvent::Kind::sent:
        return events.sent(event.time, event.place);
      case RankEvent::Kind::receive: {
        const MessageEnd& receive = rank.receives[event.place];
        events.attribute(kOtf2Round, receive.round);
        return events.receive(event.time, receive.peer, tags_.of_receive(rank.rank, event.place), receive.bytes);
      }
    }
  }

  void write_exchanges(const RankTimeline& rank) {
    const ExchangeTracks tracks(rank);
    std::vector<std::vector<std::size_t>> of_track(tracks.names.size());
    for (std::size_t i = 0; i < rank.exchanges.size(); ++i) of_track[tracks.of_exchange[i]].push_back(i);
    for (std::size_t track = 0; track < of_track.size(); ++track) {
      Otf2Events events(archive_, next_location_);
      for (const std::size_t i : of_track[track]) write_exchange(events, rank, rank.exchanges[i]);
      definitions_.location(next_location_++, tracks.names[track], rank.rank, events.close());
    }
  }

  void write_exchange(Otf2Events& events, const RankTimeline& rank, const Exchange& exchange) {
    const OTF2_RegionRef region = definitions_.region(name_of(rank.operations[exchange.operation]), Otf2Kind::exchange);
    events.attribute(kOtf2Step, exchange.step);
    if (exchange.failed) events.attribute(kOtf2Failed, 1);
    events.enter(exchange.start, region);
    const std::vector<Interval> rounds = rounds_of(rank, exchange);
    for (std::size_t i = 0; i < rounds.size(); ++i)
      write_interval(events, rounds[i], definitions_.region(fmt::format("round {}", i), Otf2Kind::round));
    events.leave(time_of(rank, exchange).end, region);
  }

  void write_thread(const RankTimeline& rank) {
    Otf2Events events(archive_, next_location_);
    for (const Interval& time : awake_times(rank))
      write_interval(events, time, definitions_.region("awake", Otf2Kind::thread));
    definitions_.location(next_location_++, "progress thread", rank.rank, events.close());
  }

  static void write_interval(Otf2Events& events, const Interval& time, OTF2_RegionRef region) {
    events.enter(time.begin, region);
    events.leave(time.end, region);
  }

  const Timeline& timeline_;
  Tags tags_;
  Otf2Archive archive_;
  Otf2Definitions definitions_;
  OTF2_LocationRef next_location_;
};

}  // namespace

void write_otf2(const Timeline& timeline, const std::string& folder) { Otf2Writer(timeline, folder).write(); }

}  // namespace fab::tools
