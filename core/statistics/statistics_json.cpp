#include "core/statistics/statistics_json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/statistics/figures.h"
#include "fab/error.h"

namespace fab {

namespace {

using core::Figure;
using core::FigureOf;
using core::operation_figures;
using core::peer_figures;
using core::way_figures;
using nlohmann::ordered_json;

ordered_json::json_pointer place_of(const Figure& figure) {
  return ordered_json::json_pointer(std::string("/") + figure.path);
}

template <class Of>
void write(std::span<const FigureOf<Of>> figures, const Of& from, ordered_json& to) {
  for (const FigureOf<Of>& figure : figures)
    if (figure.at != nullptr) to[place_of(figure)] = figure.value(from);
}

template <class Of>
void read(std::span<const FigureOf<Of>> figures, const ordered_json& from, Of& to) {
  for (const FigureOf<Of>& figure : figures)
    if (figure.at != nullptr) from.at(place_of(figure)).get_to(figure.at(to));
}

ordered_json to_json(const OperationStatistics& operation) {
  ordered_json json{{"communicator", operation.communicator},
                    {"ranks", operation.ranks},
                    {"operation", operation.operation},
                    {"algorithm", operation.algorithm}};
  write(operation_figures(), operation, json);
  ordered_json& waited = json["waited"];
  waited["median_ns"] = operation.waited.percentile_ns(0.5);
  waited["p99_ns"] = operation.waited.percentile_ns(0.99);
  waited["by_length"] = operation.waited.by_length;
  return json;
}

void read(const ordered_json& from, OperationStatistics& operation) {
  from.at("communicator").get_to(operation.communicator);
  from.at("ranks").get_to(operation.ranks);
  from.at("operation").get_to(operation.operation);
  from.at("algorithm").get_to(operation.algorithm);
  read(operation_figures(), from, operation);
  from.at("waited").at("by_length").get_to(operation.waited.by_length);
}

ordered_json to_json(const WayStatistics& way) {
  ordered_json json{{"way", way.way}};
  write(way_figures(), way, json);
  return json;
}

void read(const ordered_json& from, WayStatistics& way) {
  from.at("way").get_to(way.way);
  read(way_figures(), from, way);
}

template <class Value>
ordered_json to_list(const std::vector<Value>& values);
template <class Value>
void read(const ordered_json& from, std::vector<Value>& values);

ordered_json to_json(const PeerStatistics& peer) {
  ordered_json json{{"rank", peer.rank}, {"provider", peer.provider}, {"ways", to_list(peer.ways)}};
  write(peer_figures(), peer, json);
  return json;
}

void read(const ordered_json& from, PeerStatistics& peer) {
  from.at("rank").get_to(peer.rank);
  from.at("provider").get_to(peer.provider);
  read(from.at("ways"), peer.ways);
  read(peer_figures(), from, peer);
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

ordered_json to_json(const StatisticsByWay& statistics) {
  ordered_json json = to_json(static_cast<const Statistics&>(statistics));
  for (std::size_t i = 0; i < statistics.operations.size(); ++i)
    json["operations"][i]["ways"] =
        to_list(i < statistics.operation_ways.size() ? statistics.operation_ways[i] : std::vector<WayStatistics>());
  return json;
}

/// Names of operations are the program's own where it builds schedules: any bytes.
std::string text_of(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string Statistics::json() const { return text_of(to_json(*this), -1); }
std::string StatisticsByWay::json() const { return text_of(to_json(*this), -1); }

namespace core {

StatisticsByWay read_statistics(std::string_view json) try {
  const ordered_json parsed = ordered_json::parse(json);
  StatisticsByWay statistics;
  parsed.at("rank").get_to(statistics.rank);
  parsed.at("ranks").get_to(statistics.ranks);
  for (const auto& [name, value] : parsed.at("counters").items())
    statistics.counters.push_back({name, value.get<std::uint64_t>()});
  read(parsed.at("operations"), statistics.operations);
  for (const ordered_json& operation : parsed.at("operations"))
    read(operation.at("ways"), statistics.operation_ways.emplace_back());
  read(parsed.at("peers"), statistics.peers);
  return statistics;
} catch (const ordered_json::exception& error) {
  throw Error(Errc::mismatch, fmt::format("no statistics of this version of fab: {}", error.what()));
}

std::string job_json(std::span<const StatisticsByWay> told, std::span<const Rank> silent,
                     std::span<const FilePart> parts) {
  ordered_json all = ordered_json::array();
  for (const StatisticsByWay& each : told) all.push_back(to_json(each));
  ordered_json job{{"version", 1}, {"silent", silent}, {"statistics", all}};
  for (const FilePart& part : parts) job[part.key] = ordered_json::parse(part.json);
  return text_of(job, 1) + "\n";
}

}  // namespace core

}  // namespace fab
