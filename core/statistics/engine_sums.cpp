#include "core/statistics/engine_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace fab::core {

namespace {

constexpr std::string_view kSinceOpening = "open_for_ns";

/// The member of `all` whose `name` is `wanted`; a new one with that name if there is none.
template <class Item, class Name, class Wanted>
Item& find_or_add(std::vector<Item>& all, Name name, const Wanted& wanted) {
  const auto found = std::ranges::find(all, wanted, name);
  if (found != all.end()) return *found;
  Item& added = all.emplace_back();
  added.*name = wanted;
  return added;
}

void add(PeerStatistics& sums, const PeerStatistics& peer) {
  if (sums.provider.empty()) sums.provider = peer.provider;
  for (const WayStatistics& way : peer.ways) find_or_add(sums.ways, &WayStatistics::way, way.way).sent.add(way.sent);
  sums.received.add(peer.received);
  sums.came_last += peer.came_last;
  sums.waited_ns += peer.waited_ns;
}

}  // namespace

void add_of_engine(StatisticsByWay& sums, int number, const StatisticsByWay& engine) {
  for (const OperationStatistics& each : engine.operations)
    sums.operations.emplace_back(each).communicator += fmt::format("@{}", number);
  sums.operation_ways.insert(sums.operation_ways.end(), engine.operation_ways.begin(), engine.operation_ways.end());
  for (const PeerStatistics& each : engine.peers) add(find_or_add(sums.peers, &PeerStatistics::rank, each.rank), each);
  std::ranges::sort(sums.peers, {}, &PeerStatistics::rank);
  for (const CounterStatistics& each : engine.counters)
    if (each.name != kSinceOpening) find_or_add(sums.counters, &CounterStatistics::name, each.name).value += each.value;
}

}  // namespace fab::core
