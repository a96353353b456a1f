#include "core/statistics/figures.h"

#include <string>
#include <vector>

#include "core/base/counters.h"

namespace fab::core {

namespace {

using namespace page_units;

constexpr FigureOf<OperationStatistics> kOperationFigures[] = {
    {{"plans", FigureUnit::count, "Plans that were made, at first calls of a shape", "plans", false, {"plans made"}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.plans; }},
    {{"plans_ns", FigureUnit::ns, "The time in which they were made", "plans_ns", false, {"making plans, ms", kMs, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.plans_ns; }},
    {{"longest_plan_ns",
      FigureUnit::ns,
      "Of the plan that took longest",
      "longest_plan_ns",
      true,
      {"longest plan made, ms", kMs, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.longest_plan_ns; }},
    {{"calls",
      FigureUnit::count,
      "Exchanges and collectives that were started, sends and receives",
      "calls",
      false,
      {"calls"}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.calls; }},
    {{"sent/messages", FigureUnit::count, "Messages that the calls sent", "sent_messages", false, {"messages sent"}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.sent.messages; }},
    {{"sent/bytes",
      FigureUnit::bytes,
      "Bytes of the messages sent, frames included",
      "sent_bytes",
      false,
      {"sent, MiB", kMiB, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.sent.bytes; }},
    {{"packed/messages", FigureUnit::count, "Messages sent that were copied together first", "packed_messages"},
     [](OperationStatistics& of) -> std::uint64_t& { return of.packed.messages; }},
    {{"packed/bytes", FigureUnit::bytes, "Bytes of these", "packed_bytes", false, {"of that packed, MiB", kMiB, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.packed.bytes; }},
    {{"written/messages", FigureUnit::count, "Messages sent that were written into the receiver's memory (one-sided)",
      "written_messages"},
     [](OperationStatistics& of) -> std::uint64_t& { return of.written.messages; }},
    {{"written/bytes", FigureUnit::bytes, "Bytes of these", "written_bytes", false, {"of that written, MiB", kMiB, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.written.bytes; }},
    {{"received/messages", FigureUnit::count, "Messages that the calls received", "received_messages"},
     [](OperationStatistics& of) -> std::uint64_t& { return of.received.messages; }},
    {{"received/bytes", FigureUnit::bytes, "Bytes of the messages received, frames included", "received_bytes"},
     [](OperationStatistics& of) -> std::uint64_t& { return of.received.bytes; }},
    {{"unpacked/messages", FigureUnit::count, "Messages received that were copied from memory of fab's",
      "unpacked_messages"},
     [](OperationStatistics& of) -> std::uint64_t& { return of.unpacked.messages; }},
    {{"unpacked/bytes", FigureUnit::bytes, "Bytes of these", "unpacked_bytes"},
     [](OperationStatistics& of) -> std::uint64_t& { return of.unpacked.bytes; }},
    {{"waited/waits", FigureUnit::count, "Waits that their first polls did not end", "waits", false, {"longer waits"}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.waited.waits; }},
    {{"waited/total_ns", FigureUnit::ns, "The time of these waits", "waited_ns", false, {"waited, s", kS, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.waited.total_ns; }},
    {{"waited/most_ns",
      FigureUnit::ns,
      "Of the longest of these waits",
      "longest_wait_ns",
      true,
      {"longest wait, ms", kMs, 3}},
     [](OperationStatistics& of) -> std::uint64_t& { return of.waited.most_ns; }},
    {{"waited/median_ns", FigureUnit::ns, "Half of these waits took at most so long, to a factor of 2"}},
    {{"waited/p99_ns", FigureUnit::ns, "99 % of these waits took at most so long, to a factor of 2"}},
    {{"waited/by_length", FigureUnit::count,
      "A list: how many of these waits took 2^i to 2^(i+1) - 1 ns, from i = 0 on"}},
};

constexpr FigureOf<PeerStatistics> kPeerFigures[] = {
    {{"received/messages", FigureUnit::count, "Messages that came from this peer, by all ways"},
     [](PeerStatistics& of) -> std::uint64_t& { return of.received.messages; }},
    {{"received/bytes", FigureUnit::bytes, "Bytes of these, frames included"},
     [](PeerStatistics& of) -> std::uint64_t& { return of.received.bytes; }},
    {{"came_last", FigureUnit::count,
      "Waits in which the longest time without an event ended with a message from, or to, this peer"},
     [](PeerStatistics& of) -> std::uint64_t& { return of.came_last; }},
    {{"waited_ns", FigureUnit::ns, "The time of those waits"},
     [](PeerStatistics& of) -> std::uint64_t& { return of.waited_ns; }},
};

constexpr FigureOf<WayStatistics> kWayFigures[] = {
    {{"messages", FigureUnit::count, "Messages that left for this peer by this way"},
     [](WayStatistics& of) -> std::uint64_t& { return of.sent.messages; }},
    {{"bytes", FigureUnit::bytes, "Bytes of these, frames included"},
     [](WayStatistics& of) -> std::uint64_t& { return of.sent.bytes; }},
};

constexpr FigureOf<WayStatistics> kOperationWayFigures[] = {
    {{"messages", FigureUnit::count, "Messages of this operation that left by this way; parts and credits count"},
     [](WayStatistics& of) -> std::uint64_t& { return of.sent.messages; }},
    {{"bytes", FigureUnit::bytes, "Bytes of these, frames included"},
     [](WayStatistics& of) -> std::uint64_t& { return of.sent.bytes; }},
};

constexpr Figure kCounterFigures[] = {
    {"open_for_ns",
     FigureUnit::ns,
     "The time since the context was opened",
     "open_for_ns",
     false,
     {"open for, s", kS, 3}},
    {"opening_launcher_ns",
     FigureUnit::ns,
     "The time that the launcher's library took at the opening",
     "opening_launcher_ns",
     false,
     {"opening: launcher, ms", kMs, 3}},
    {"opening_providers_ns",
     FigureUnit::ns,
     "The time that the providers took at the opening",
     "opening_providers_ns",
     false,
     {"opening: providers, ms", kMs, 3}},
    {"polls", FigureUnit::count, "Polls of the providers", "polls", false, {"polls"}},
    {"refused_posts",
     FigureUnit::count,
     "Posts that a provider had no room for, and that were repeated",
     "refused_posts",
     false,
     {"refused_posts"}},
};

/// With those of core/base/counters.h behind them. Their paths live as long as the process.
std::vector<Figure> all_counter_figures() {
  std::vector<Figure> all(std::begin(kCounterFigures), std::end(kCounterFigures));
  for (const CounterRow& row : counter_rows())
    all.push_back({.path = row.name,
                   .unit = FigureUnit::count,
                   .meaning = row.description,
                   .variable = row.name,
                   .page = {.title = row.name}});
  return all;
}

}  // namespace

const char* to_string(FigureUnit unit) noexcept {
  switch (unit) {
    case FigureUnit::bytes:
      return "bytes";
    case FigureUnit::ns:
      return "ns";
    case FigureUnit::count:
      break;
  }
  return "";
}

std::string variable_name(const Figure& figure) { return std::string("fab_") + figure.variable; }

std::span<const FigureOf<OperationStatistics>> operation_figures() noexcept { return kOperationFigures; }
std::span<const FigureOf<PeerStatistics>> peer_figures() noexcept { return kPeerFigures; }
std::span<const FigureOf<WayStatistics>> way_figures() noexcept { return kWayFigures; }
std::span<const FigureOf<WayStatistics>> operation_way_figures() noexcept { return kOperationWayFigures; }

std::span<const Figure> counter_figures() noexcept {
  static const std::vector<Figure> all = all_counter_figures();
  return all;
}

}  // namespace fab::core
