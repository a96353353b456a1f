#include "core/statistics/statistics_json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "fab/error.h"

namespace fab {

namespace {

using nlohmann::ordered_json;

ordered_json to_json(const MessageAmounts& amounts) {
  return {{"messages", amounts.messages}, {"bytes", amounts.bytes}};
}

void read(const ordered_json& from, MessageAmounts& amounts) {
  from.at("messages").get_to(amounts.messages);
  from.at("bytes").get_to(amounts.bytes);
}

ordered_json to_json(const WaitTimes& times) {
  return {{"waits", times.waits},
          {"total_ns", times.total_ns},
          {"median_ns", times.percentile_ns(0.5)},
          {"p99_ns", times.percentile_ns(0.99)},
          {"most_ns", times.most_ns},
          {"by_length", times.by_length}};
}

void read(const ordered_json& from, WaitTimes& times) {
  from.at("waits").get_to(times.waits);
  from.at("total_ns").get_to(times.total_ns);
  from.at("most_ns").get_to(times.most_ns);
  from.at("by_length").get_to(times.by_length);
}

ordered_json to_json(const OperationStatistics& operation) {
  return {{"communicator", operation.communicator},
          {"ranks", operation.ranks},
          {"operation", operation.operation},
          {"algorithm", operation.algorithm},
          {"calls", operation.calls},
          {"sent", to_json(operation.sent)},
          {"packed", to_json(operation.packed)},
          {"written", to_json(operation.written)},
          {"received", to_json(operation.received)},
          {"unpacked", to_json(operation.unpacked)},
          {"plans", operation.plans},
          {"plans_ns", operation.plans_ns},
          {"longest_plan_ns", operation.longest_plan_ns},
          {"waited", to_json(operation.waited)}};
}

void read(const ordered_json& from, OperationStatistics& operation) {
  from.at("communicator").get_to(operation.communicator);
  from.at("ranks").get_to(operation.ranks);
  from.at("operation").get_to(operation.operation);
  from.at("algorithm").get_to(operation.algorithm);
  from.at("calls").get_to(operation.calls);
  read(from.at("sent"), operation.sent);
  read(from.at("packed"), operation.packed);
  read(from.at("written"), operation.written);
  read(from.at("received"), operation.received);
  read(from.at("unpacked"), operation.unpacked);
  from.at("plans").get_to(operation.plans);
  from.at("plans_ns").get_to(operation.plans_ns);
  from.at("longest_plan_ns").get_to(operation.longest_plan_ns);
  read(from.at("waited"), operation.waited);
}

ordered_json to_json(const PeerStatistics& peer) {
  ordered_json ways = ordered_json::array();
  for (const WayStatistics& way : peer.ways)
    ways.push_back({{"way", way.way}, {"messages", way.sent.messages}, {"bytes", way.sent.bytes}});
  return {{"rank", peer.rank},
          {"provider", peer.provider},
          {"ways", ways},
          {"came_last", peer.came_last},
          {"waited_ns", peer.waited_ns}};
}

void read(const ordered_json& from, PeerStatistics& peer) {
  from.at("rank").get_to(peer.rank);
  from.at("provider").get_to(peer.provider);
  for (const ordered_json& each : from.at("ways")) {
    WayStatistics& way = peer.ways.emplace_back();
    each.at("way").get_to(way.way);
    read(each, way.sent);
  }
  from.at("came_last").get_to(peer.came_last);
  from.at("waited_ns").get_to(peer.waited_ns);
}

template <class Value>
ordered_json to_list(const std::vector<Value>& values) {
  ordered_json list = ordered_json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

template <class Value>
void read(const ordered_json& from, std::vector<Value>& values) {
  for (const ordered_json& each : from) read(each, values.emplace_back());
}

ordered_json to_json(const Statistics& statistics) {
  ordered_json counters = ordered_json::object();
  for (const CounterStatistics& counter : statistics.counters) counters[counter.name] = counter.value;
  return {{"rank", statistics.rank},
          {"ranks", statistics.ranks},
          {"counters", counters},
          {"operations", to_list(statistics.operations)},
          {"peers", to_list(statistics.peers)}};
}

/// Names of operations are the program's own where it builds schedules: any bytes.
std::string text_of(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string Statistics::json() const { return text_of(to_json(*this), -1); }

namespace core {

Statistics read_statistics(std::string_view json) try {
  const ordered_json parsed = ordered_json::parse(json);
  Statistics statistics;
  parsed.at("rank").get_to(statistics.rank);
  parsed.at("ranks").get_to(statistics.ranks);
  for (const auto& [name, value] : parsed.at("counters").items())
    statistics.counters.push_back({name, value.get<std::uint64_t>()});
  read(parsed.at("operations"), statistics.operations);
  read(parsed.at("peers"), statistics.peers);
  return statistics;
} catch (const ordered_json::exception& error) {
  throw Error(Errc::mismatch, fmt::format("no statistics of this version of fab: {}", error.what()));
}

std::string job_json(std::span<const Statistics> told, std::span<const Rank> silent) {
  ordered_json all = ordered_json::array();
  for (const Statistics& each : told) all.push_back(to_json(each));
  return text_of({{"version", 1}, {"silent", silent}, {"statistics", all}}, 1) + "\n";
}

}  // namespace core

}  // namespace fab
