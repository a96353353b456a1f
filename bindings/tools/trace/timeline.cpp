#include "bindings/tools/trace/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace fab::tools {

namespace {

using core::TraceEvent;
using core::TraceRecord;

Time to_time(std::uint64_t ns) { return static_cast<Time>(ns); }

/// Reads the records of a rank one after the other.
class RankReader {
 public:
  explicit RankReader(RankTrace trace) : records_(std::move(trace.records)) {
    rank_.rank = trace.head.rank;
    rank_.host = std::move(trace.host);
    rank_.clock = std::move(trace.clock);
    rank_.begin = trace.head.begin;
    rank_.end = trace.head.end;
    rank_.lost = trace.lost;
    rank_.ways = std::move(trace.ways);
    rank_.operations = std::move(trace.head.operations);
  }

  RankTimeline read() && {
    rank_.span = {to_time(rank_.begin.monotonic_ns), to_time(rank_.end.monotonic_ns)};
    for (const TraceRecord& record : records_) take(record);
    return std::move(rank_);
  }

 private:
  void take(const TraceRecord& record) {
    const Time time = to_time(record.time_ns);
    const auto found = active_.find(record.exchange);
    const std::size_t exchange = found == active_.end() ? kNone : found->second;
    switch (record.event()) {
      case TraceEvent::start:
        return start(record);
      case TraceEvent::wait:
        rank_.waits.push_back({{to_time(record.word), time}, exchange});
        return;
      case TraceEvent::sleep:
        rank_.sleeps.push_back({to_time(record.word), time});
        return;
      case TraceEvent::round:
        if (exchange != kNone) rank_.exchanges[exchange].rounds.push_back(time);
        return;
      case TraceEvent::end:
        if (exchange != kNone) end(rank_.exchanges[exchange], record);
        return;
      case TraceEvent::send:
      case TraceEvent::send_done:
        if (exchange != kNone) send(exchange, record);
        return;
      case TraceEvent::sent:
        if (exchange != kNone) sent(exchange, record);
        return;
      case TraceEvent::received:
        if (exchange != kNone) received(exchange, record);
        return;
    }
  }

  void start(const TraceRecord& record) {
    active_[record.exchange] = rank_.exchanges.size();
    rank_.exchanges.push_back({.number = record.exchange,
                               .operation = static_cast<std::size_t>(record.peer),
                               .step = record.bytes(),
                               .word = record.word,
                               .start = to_time(record.time_ns)});
  }
  static void end(Exchange& exchange, const TraceRecord& record) {
    exchange.end = to_time(record.time_ns);
    exchange.failed = record.bytes() != 0;
  }
  MessageEnd end_of(std::size_t exchange, const TraceRecord& record) const {
    return {.key = record.word,
            .peer = record.peer,
            .bytes = record.bytes(),
            .round = record.round(),
            .exchange = exchange};
  }
  void send(std::size_t exchange, const TraceRecord& record) {
    MessageEnd end = end_of(exchange, record);
    end.posted = to_time(record.time_ns);
    if (record.event() == TraceEvent::send_done) end.done = end.posted;
    end.way = record.way();
    if (end.done == kNever) unfinished_[exchange].push_back(rank_.sends.size());
    rank_.sends.push_back(end);
    ++rank_.exchanges[exchange].sends;
  }
  // A message from rank to rank is the only one of its start.
  void sent(std::size_t exchange, const TraceRecord& record) {
    std::vector<std::size_t>& its = unfinished_[exchange];
    const bool alone = is_point_to_point(rank_.operations[rank_.exchanges[exchange].operation]);
    const auto found = std::ranges::find_if(its, [&](std::size_t send) {
      return alone || (rank_.sends[send].key == record.word && rank_.sends[send].peer == record.peer);
    });
    if (found == its.end()) return;
    rank_.sends[*found].done = to_time(record.time_ns);
    its.erase(found);
  }
  void received(std::size_t exchange, const TraceRecord& record) {
    MessageEnd end = end_of(exchange, record);
    end.done = to_time(record.time_ns);
    rank_.receives.push_back(end);
    ++rank_.exchanges[exchange].receives;
  }

  std::vector<TraceRecord> records_;
  RankTimeline rank_;
  std::unordered_map<std::uint32_t, std::size_t> active_;                 ///< exchanges by number; numbers wrap
  std::unordered_map<std::size_t, std::vector<std::size_t>> unfinished_;  ///< sends of an exchange
};

/// What both ends of a message have in common, from its source's or its destination's view.
using Address = std::tuple<Rank, Rank, bool, std::uint64_t, std::uint64_t>;

Address address_of(const RankTimeline& rank, const MessageEnd& end, bool sent) {
  const Exchange& exchange = rank.exchanges[end.exchange];
  const bool point_to_point = is_point_to_point(rank.operations[exchange.operation]);
  return {sent ? rank.rank : end.peer, sent ? end.peer : rank.rank, point_to_point, end.key, exchange.word};
}

/// In the order of their posts, and of their arrivals.
void match(Timeline& timeline) {
  struct Place {
    RankTimeline* rank;
    std::size_t send;
  };
  struct Queue {
    std::vector<Place> sends;
    std::size_t next = 0;
  };
  std::map<Address, Queue> queues;
  for (RankTimeline& rank : timeline.of_rank)
    for (std::size_t i = 0; i < rank.sends.size(); ++i)
      queues[address_of(rank, rank.sends[i], true)].sends.push_back({&rank, i});
  std::size_t ends = 0;
  for (RankTimeline& rank : timeline.of_rank) {
    ends += rank.sends.size() + rank.receives.size();
    for (std::size_t i = 0; i < rank.receives.size(); ++i) {
      const auto found = queues.find(address_of(rank, rank.receives[i], false));
      if (found == queues.end() || found->second.next == found->second.sends.size()) continue;
      const Place place = found->second.sends[found->second.next++];
      rank.receives[i].other = place.send;
      place.rank->sends[place.send].other = i;
      ++timeline.messages;
    }
  }
  timeline.lonely = ends - 2 * timeline.messages;
}

}  // namespace

void RankTimeline::visit_times(const std::function<void(Time&)>& visit) {
  const auto look = [&](Time& time) {
    if (time != kNever) visit(time);
  };
  for (Exchange& exchange : exchanges) {
    look(exchange.start);
    for (Time& round : exchange.rounds) look(round);
    look(exchange.end);
  }
  for (Wait& wait : waits) {
    look(wait.time.begin);
    look(wait.time.end);
  }
  for (Interval& sleep : sleeps) {
    look(sleep.begin);
    look(sleep.end);
  }
  for (MessageEnd& send : sends) {
    look(send.posted);
    look(send.done);
  }
  for (MessageEnd& receive : receives) look(receive.done);
  look(span.begin);
  look(span.end);
}

Interval time_of(const RankTimeline& rank, const Exchange& exchange) {
  return {exchange.start, exchange.end == kNever ? std::max(rank.span.end, exchange.start) : exchange.end};
}

std::string way_of(const RankTimeline& rank, const MessageEnd& send) {
  return send.way == 0 ? "unknown" : rank.ways[send.way];
}

RankTimeline* Timeline::find(Rank rank) {
  const auto found = std::ranges::lower_bound(of_rank, rank, {}, &RankTimeline::rank);
  return found == of_rank.end() || found->rank != rank ? nullptr : &*found;
}

const RankTimeline* Timeline::find(Rank rank) const { return const_cast<Timeline*>(this)->find(rank); }

Timeline make_timeline(std::vector<RankTrace> traces) {
  Timeline timeline;
  for (RankTrace& trace : traces) {
    timeline.ranks = trace.head.ranks;
    timeline.of_rank.push_back(RankReader(std::move(trace)).read());
  }
  match(timeline);
  return timeline;
}

}  // namespace fab::tools
