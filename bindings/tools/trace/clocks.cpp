#include "bindings/tools/trace/clocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "bindings/tools/trace/causality.h"
#include "bindings/tools/trace/clock_fit.h"

namespace fab::tools {

namespace {

/// The ranks that read one clock.
using Hosts = std::vector<std::vector<RankTimeline*>>;

struct Bounds {
  std::vector<ClockBound> below;  ///< by messages from the first host of the pair to the second
  std::vector<ClockBound> above;
};

/// By pairs of hosts, the lower number first: the first clock's offset at times of the second one.
using AllBounds = std::map<std::pair<std::size_t, std::size_t>, Bounds>;

Hosts find_hosts(Timeline& timeline, std::vector<std::size_t>& host_of) {
  Hosts hosts;
  std::map<std::string, std::size_t> numbers;
  for (RankTimeline& rank : timeline.of_rank) {
    const auto [found, is_new] = numbers.emplace(rank.clock, hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[found->second].push_back(&rank);
    host_of[static_cast<std::size_t>(rank.rank)] = found->second;
  }
  return hosts;
}

AllBounds find_bounds(const Timeline& timeline, const std::vector<std::size_t>& host_of) {
  AllBounds all;
  for (const RankTimeline& rank : timeline.of_rank)
    for (const MessageEnd& send : rank.sends) {
      if (send.other == kNone) continue;
      const std::size_t from = host_of[static_cast<std::size_t>(rank.rank)];
      const std::size_t to = host_of[static_cast<std::size_t>(send.peer)];
      if (from == to) continue;
      const auto sent = static_cast<double>(send.posted);
      const auto came = static_cast<double>(timeline.find(send.peer)->receives[send.other].done);
      if (from < to)
        all[{from, to}].below.push_back({came, sent - came});
      else
        all[{to, from}].above.push_back({sent, came - sent});
    }
  return all;
}

/// The time of day less the host's clock, in the middle of its ranks' lives.
double time_of_day(const std::vector<RankTimeline*>& host) {
  double sum = 0;
  for (const RankTimeline* rank : host)
    for (const core::ClockPair& clocks : {rank->begin, rank->end})
      sum += static_cast<double>(static_cast<std::int64_t>(clocks.realtime_ns - clocks.monotonic_ns));
  return sum / static_cast<double>(2 * host.size());
}

/// One end of messages cannot tell the offset: the time of day does, within their bound.
ClockFit by_time_of_day(ClockFit bound, const std::vector<RankTimeline*>& one,
                        const std::vector<RankTimeline*>& other) {
  ClockFit fit = bound;
  fit.drift = 0;
  fit.base = time_of_day(other) - time_of_day(one);
  if (bound.kind == ClockFit::Kind::from_below) fit.base = std::max(fit.base, bound.base + 1);
  if (bound.kind == ClockFit::Kind::from_above) fit.base = std::min(fit.base, bound.base - 1);
  return fit;
}

std::string note_of(const ClockFit& fit, const std::string& one, const std::string& other, const Bounds& bounds) {
  const std::string names = fmt::format("clocks of {} and {}", one, other);
  switch (fit.kind) {
    case ClockFit::Kind::between:
      return fmt::format("{}: by {} messages there and {} back, to {:.3f} us; drift {:.3f} ppm", names,
                         bounds.below.size(), bounds.above.size(), fit.half_width / 1e3, fit.drift * 1e6);
    case ClockFit::Kind::contradicted:
      return fmt::format(
          "{}: no line fits all {} messages there and {} back: a clock was set, or does not go evenly; "
          "the line that breaks them least is {:.3f} us off",
          names, bounds.below.size(), bounds.above.size(), -fit.half_width / 1e3);
    case ClockFit::Kind::from_below:
    case ClockFit::Kind::from_above:
      return fmt::format("{}: messages went one way, which only bounds the offset; by the time of day", names);
    case ClockFit::Kind::none:
      break;
  }
  return fmt::format("{}: no messages between them; by the time of day", names);
}

/// How a host's times become those of the first host, by way of another host that is there already.
using ToFirst = std::function<double(double)>;

ToFirst by_way_of(const ToFirst& way, const ClockFit& fit, bool is_second) {
  if (is_second) return [way, fit](double time) { return way(time + fit.offset(time)); };
  return [way, fit](double time) { return way((time - fit.base + fit.drift * fit.origin) / (1 + fit.drift)); };
}

/// Hosts that are known well lead to others: an estimate counts as bad as its error.
class HostClocks {
 public:
  HostClocks(Timeline& timeline, const Hosts& hosts, const AllBounds& bounds)
      : timeline_(timeline), hosts_(hosts), bounds_(bounds), ways_(hosts.size()) {}

  void align() {
    ways_[0] = [](double time) { return time; };
    for (std::size_t done = 1; done < hosts_.size(); ++done) add_best();
    for (std::size_t host = 1; host < hosts_.size(); ++host)
      for (RankTimeline* rank : hosts_[host])
        rank->visit_times([&](Time& time) { time = std::llround(ways_[host](static_cast<double>(time))); });
  }

 private:
  static constexpr double kBad = 1e15;  ///< worse than any estimate by messages

  [[nodiscard]] static double error_of(const ClockFit& fit) {
    if (fit.kind == ClockFit::Kind::between) return fit.half_width;
    if (fit.kind == ClockFit::Kind::contradicted) return kBad - fit.half_width;
    return fit.kind == ClockFit::Kind::none ? 3 * kBad : 2 * kBad;
  }

  void add_best() {
    double least = std::numeric_limits<double>::infinity();
    std::pair<std::size_t, std::size_t> best;
    ClockFit best_fit;
    for (std::size_t one = 0; one < hosts_.size(); ++one)
      for (std::size_t other = one + 1; other < hosts_.size(); ++other) {
        if (static_cast<bool>(ways_[one]) == static_cast<bool>(ways_[other])) continue;
        const ClockFit fit = fit_of({one, other});
        if (error_of(fit) >= least) continue;
        least = error_of(fit);
        best = {one, other};
        best_fit = fit;
      }
    const auto [one, other] = best;
    const bool is_second = static_cast<bool>(ways_[one]);
    ways_[is_second ? other : one] = by_way_of(ways_[is_second ? one : other], best_fit, is_second);
    const auto found = bounds_.find(best);
    timeline_.notes.push_back(note_of(best_fit, hosts_[one].front()->host, hosts_[other].front()->host,
                                      found == bounds_.end() ? Bounds() : found->second));
  }

  [[nodiscard]] const ClockFit& fit_of(std::pair<std::size_t, std::size_t> hosts) {
    if (const auto known = fits_.find(hosts); known != fits_.end()) return known->second;
    ClockFit fit;
    if (const auto found = bounds_.find(hosts); found != bounds_.end())
      fit = fit_clock(found->second.below, found->second.above);
    if (fit.kind != ClockFit::Kind::between && fit.kind != ClockFit::Kind::contradicted)
      fit = by_time_of_day(fit, hosts_[hosts.first], hosts_[hosts.second]);
    return fits_.emplace(hosts, fit).first->second;
  }

  Timeline& timeline_;
  const Hosts& hosts_;
  const AllBounds& bounds_;
  std::vector<ToFirst> ways_;
  std::map<std::pair<std::size_t, std::size_t>, ClockFit> fits_;
};

void begin_with_zero(Timeline& timeline) {
  Time first = std::numeric_limits<Time>::max();
  for (const RankTimeline& rank : timeline.of_rank) first = std::min(first, rank.span.begin);
  for (RankTimeline& rank : timeline.of_rank) rank.visit_times([first](Time& time) { time -= first; });
}

}  // namespace

void align_clocks(Timeline& timeline) {
  std::vector<std::size_t> host_of(static_cast<std::size_t>(timeline.ranks));
  const Hosts hosts = find_hosts(timeline, host_of);
  if (hosts.size() > 1) HostClocks(timeline, hosts, find_bounds(timeline, host_of)).align();
  begin_with_zero(timeline);
  hold_causality(timeline);
}

}  // namespace fab::tools
