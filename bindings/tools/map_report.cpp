#include "bindings/tools/map_report.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

/// Mappings of more take hours, and pictures of them gigabytes.
constexpr std::int64_t kMostRanks = 1 << 22;

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw Error(Errc::invalid_argument, fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// Numbers between any of the separators.
std::vector<int> read_numbers(const char* option, std::string_view text, std::string_view separators) {
  std::vector<int> numbers;
  std::string_view rest = text;
  while (true) {
    const std::string_view part = rest.substr(0, rest.find_first_of(separators));
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc{} || end != part.data() + part.size() || number < 0)
      refuse("{} {}: {} is no number of 0 or more", option, in_quotes(text), in_quotes(part));
    numbers.push_back(number);
    if (part.size() == rest.size()) return numbers;
    rest.remove_prefix(part.size() + 1);
  }
}

/// The ranks of each node.
std::vector<int> read_node_sizes(std::string_view text) {
  std::vector<int> sizes;
  std::int64_t ranks = 0;
  std::string_view rest = text;
  while (true) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::vector<int> numbers = read_numbers("--nodes", part, "x");
    if (numbers.size() > 2 || std::count(numbers.begin(), numbers.end(), 0) > 0)
      refuse("--nodes {}: {} is neither RANKS nor NODESxRANKS", in_quotes(text), in_quotes(part));
    const std::int64_t nodes = numbers.size() == 2 ? numbers.front() : 1;
    ranks += nodes * numbers.back();
    if (ranks > kMostRanks)
      refuse("--nodes {}: more than {} ranks; a map shows that many at most", in_quotes(text), kMostRanks);
    sizes.insert(sizes.end(), static_cast<std::size_t>(numbers.size() == 2 ? numbers.front() : 1), numbers.back());
    if (part.size() == rest.size()) return sizes;
    rest.remove_prefix(part.size() + 1);
  }
}

std::vector<int> nodes_of_ranks(std::vector<int> sizes, bool dealt) {
  std::vector<int> nodes;
  const std::int64_t ranks = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  while (static_cast<std::int64_t>(nodes.size()) < ranks)
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      const int count = dealt ? std::min(sizes[node], 1) : sizes[node];
      nodes.insert(nodes.end(), static_cast<std::size_t>(count), static_cast<int>(node));
      sizes[node] -= count;
    }
  return nodes;
}

MapReport prepare(const MapQuestion& question, const std::vector<int>& job_nodes) {
  std::vector<int> nodes =
      question.nodes ? nodes_of_ranks(read_node_sizes(*question.nodes), question.dealt) : job_nodes;
  if (nodes.empty()) refuse("--map: the launcher does not tell which ranks share a node; give --nodes");
  std::vector<int> dims = read_numbers("--map", question.dims, "x,");
  const auto ranks = static_cast<int>(nodes.size());
  if (std::count(dims.begin(), dims.end(), 0) > 0) dims = dims_create(ranks, std::move(dims));
  const std::size_t dimensions = dims.size();
  Cartesian grid(std::move(dims), std::vector<bool>(dimensions, question.periodic));
  if (grid.size() != ranks)
    refuse("--map {}: the grid has {} places; {} {} ranks", in_quotes(question.dims), grid.size(),
           question.nodes ? "--nodes has" : "without --nodes it is this job's, which has", ranks);
  return {std::move(grid), std::move(nodes), {}};
}

}  // namespace

const Mapping& MapReport::after() const {
  return *std::find_if(rows.begin(), rows.end(), [](const MapRow& row) { return row.name == "bricks"; })->mapping;
}

MapReport make_map_report(const MapQuestion& question, const std::vector<int>& job_nodes) {
  MapReport report = prepare(question, job_nodes);
  const Traffic traffic = Traffic::of(report.grid);
  const bool is_hypercube = (report.grid.size() & (report.grid.size() - 1)) == 0;
  const auto add = [&](const char* name, const std::function<Mapping()>& make) {
    MapRow row{.name = name};
    try {
      row.mapping = make();
      row.cut = cut(traffic, *row.mapping, report.nodes);
      if (is_hypercube) row.hypercube_dilation = dilation(traffic, *row.mapping, hypercube_hops);
    } catch (const Error& error) {
      row.reason = error.what();
    }
    report.rows.push_back(std::move(row));
  };
  const Cartesian& grid = report.grid;
  add("row_major", [&] { return Mapping::row_major(grid); });
  add("column_major", [&] { return Mapping::column_major(grid); });
  add("morton", [&] { return Mapping::morton(grid); });
  add("hilbert", [&] { return Mapping::hilbert(grid); });
  add("gray_code", [&] { return Mapping::gray_code(grid); });
  add("partition", [&] { return Mapping::partition(traffic, report.nodes); });
  add("bricks", [&] { return Mapping::bricks(grid, report.nodes); });
  return report;
}

nlohmann::ordered_json to_json(const MapReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const MapRow& row : report.rows) {
    nlohmann::ordered_json entry = {{"mapping", row.name}};
    if (!row.mapping) {
      entry["reason"] = row.reason;
    } else {
      entry["messages"] = row.cut.messages;
      entry["most_messages_of_a_node"] = row.cut.most_messages;
      if (row.hypercube_dilation) entry["hypercube_dilation"] = *row.hypercube_dilation;
      entry["ranks"] = row.mapping->ranks();
    }
    rows.push_back(std::move(entry));
  }
  std::vector<bool> periodic;
  for (int d = 0; d < report.grid.dimensions(); ++d) periodic.push_back(report.grid.periodic(fab::Dimension{d}));
  return {{"dims", report.grid.dims()}, {"periodic", periodic}, {"nodes", report.nodes}, {"mappings", rows}};
}

}  // namespace fab::tools
