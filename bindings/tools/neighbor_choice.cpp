#include "bindings/tools/neighbor_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bindings/tools/quantity.h"
#include "collectives/neighbor/node_cost.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

using nlohmann::ordered_json;

constexpr int kMostPerNode = 1024;

collectives::NodePair pair_of(int ranks, int edges, std::uint64_t bytes, bool one_value) {
  collectives::NodePair pair{0, 1, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (int edge = 0; edge < edges; ++edge)
      pair.edges.push_back(
          {source, ranks + (source + edge) % ranks, 0, one_value ? 0u : static_cast<std::uint32_t>(edge), bytes});
  return pair;
}

ordered_json row_of(const ChooseQuestion& question, std::uint64_t bytes, bool one_value,
                    collectives::NodeNetwork network, NeighborPaths paths) {
  const int edges = std::min(question.edges, question.per_node);
  const collectives::PairTraffic traffic = collectives::traffic_of(pair_of(question.per_node, edges, bytes, one_value));
  const collectives::PairCost cost = collectives::cost_of(traffic, collectives::figures_of(network));
  const bool by_node = question.per_node > 1 &&
                       (paths == NeighborPaths::automatic ? cost.by_node_pays() : paths == NeighborPaths::by_node);
  return {{"collective", kNeighborChoice},
          {"network", network == collectives::NodeNetwork::card ? "card" : "kernel"},
          {"ranks_per_node", question.per_node},
          {"edges", edges},
          {"bytes", bytes},
          {"one_block", one_value},
          {"algorithm", by_node ? "by_node" : "direct"},
          {"by", question.per_node == 1              ? "one rank on each node"
                 : paths == NeighborPaths::automatic ? "model"
                                                     : "FAB_ALGO_NEIGHBOR"},
          {"messages", traffic.messages},
          {"sent_bytes", traffic.bytes},
          {"value_bytes", traffic.value_bytes},
          {"direct_us", cost.direct_us},
          {"by_node_us", cost.by_node_us}};
}

}  // namespace

ordered_json neighbor_rows(const ChooseQuestion& question, const Config& config) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  const auto check = [](const char* option, int value) {
    if (value < 1 || value > kMostPerNode)
      throw Error(Errc::invalid_argument, fmt::format("{} {}: valid is 1 to {}", option, value, kMostPerNode));
  };
  check("--ppn", question.per_node);
  check("--edges", question.edges);
  ordered_json rows = ordered_json::array();
  for (const std::uint64_t bytes : parse_quantities("--bytes", question.bytes, 0, kMostBytes))
    for (const bool one_value : {false, true})
      for (const auto network : {collectives::NodeNetwork::kernel, collectives::NodeNetwork::card})
        rows.push_back(row_of(question, bytes, one_value, network, config.neighbor_paths));
  return rows;
}

std::string neighbor_text(const ordered_json& rows) {
  constexpr const char* kColumns = "{:<8} {:>10} {:>6} {:>9}  {:<8} {:<8} {:>11} {:>10} {:>14} {:>11}  {}\n";
  std::string text =
      "# of one node that sends to another one: persistent exchanges, and what the model says of both ways\n";
  text += fmt::format(fmt::runtime(kColumns), "network", "ranks/node", "edges", "size", "blocks", "way", "direct msgs",
                      "direct us", "by node bytes", "by node us", "by");
  for (const ordered_json& row : rows)
    fmt::format_to(std::back_inserter(text), fmt::runtime(kColumns), row["network"] == "card" ? "card" : "TCP",
                   row["ranks_per_node"].get<int>(), row["edges"].get<int>(), bytes_text(row["bytes"].get<double>()),
                   row["one_block"].get<bool>() ? "one" : "own", row["algorithm"].get<std::string>(),
                   row["messages"].get<int>(), us_text(row["direct_us"].get<double>()),
                   bytes_text(row["value_bytes"].get<double>()), us_text(row["by_node_us"].get<double>()),
                   row["by"].get<std::string>());
  text += "# blocks: own: one for each edge; one: the same for all edges of a rank. by node: one message\n";
  return text;
}

}  // namespace fab::tools
