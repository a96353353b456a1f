#include "bindings/tools/choose_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "bindings/tools/quantity.h"
#include "collectives/choice/select.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

using collectives::Choice;
using collectives::CollectiveCall;
using collectives::Rule;
using nlohmann::ordered_json;

Collective collective_named(const std::string& name) {
  const auto* const found = std::ranges::find(kCollectiveNames, name);
  if (found == std::end(kCollectiveNames))
    throw Error(Errc::invalid_argument,
                fmt::format("--choose {}: valid are {}, neighbor", in_quotes(name), fmt::join(kCollectiveNames, ", ")));
  return static_cast<Collective>(found - std::begin(kCollectiveNames));
}

CollectiveCall call_of(Collective collective, const ChooseQuestion& question, const core::NodeMap& nodes,
                       std::size_t bytes) {
  const int ranks = nodes.ranks();
  const bool one_node = ranks <= question.per_node;
  return {.collective = collective,
          .ranks = ranks,
          .one_node = one_node,
          .crowded = one_node && ranks > question.processors.value_or(ranks),
          .over_tcp = question.tcp,
          .nodes = one_node || question.per_node == 1 ? nullptr : &nodes,
          .bytes = bytes,
          .operation = {.element_bytes = 1, .commutative = !question.ordered}};
}

core::NodeMap nodes_of(int ranks, const ChooseQuestion& question) {
  if (!question.dealt) return core::NodeMap::regular(ranks, question.per_node);
  const int nodes = (ranks - 1) / question.per_node + 1;
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) node_of[static_cast<std::size_t>(rank)] = rank % nodes;
  return core::NodeMap::of(node_of);
}

/// "up to 16 KiB on up to 64 ranks between nodes of at least 4"
std::string words_for(const Rule& rule) {
  std::string words;
  const auto add = [&words](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  if (rule.most_bytes != collectives::kAnyBytes)
    add(fmt::format("up to {}", bytes_text(static_cast<double>(rule.most_bytes))));
  if (rule.most_ranks != collectives::kAnyRanks) add(fmt::format("up to {} ranks", rule.most_ranks));
  if (rule.least_per_node > 1) add(fmt::format("at least {} ranks on each node", rule.least_per_node));
  if (rule.where == collectives::Where::node) add("within a node");
  if (rule.where == collectives::Where::nodes) add("between nodes");
  if (rule.where == collectives::Where::scattered) add("between nodes that ranks are dealt to in turn");
  if (rule.where == collectives::Where::crowded) add("within a node of fewer processors");
  if (rule.where == collectives::Where::tcp) add("between nodes joined by TCP");
  return words.empty() ? "all calls" : words;
}

ordered_json describe(const Rule* rule, const collectives::Rules& rules) {
  if (rule == nullptr) return nullptr;
  return {{"number", rule - rules.rows.data() + 1}, {"covers", words_for(*rule)}};
}

ordered_json row_of(const CollectiveCall& call, const ChooseQuestion& question, const Config& config) {
  const Choice choice = collectives::choose(call, config);
  constexpr const char* kBy[] = {"first", "rule", "variable"};
  ordered_json passed_over = ordered_json::array();
  for (const Choice::PassedOver& each : choice.passed_over)
    passed_over.push_back({{"algorithm", each.algorithm->name},
                           {"restriction", each.algorithm->restriction.text},
                           {"rule", describe(each.rule, *choice.rules)}});
  return {{"collective", to_string(call.collective)},
          {"ranks", call.ranks},
          {"ranks_per_node", std::min(question.per_node, call.ranks)},
          {"dealt", question.dealt},
          {"tcp", question.tcp},
          {"bytes", call.bytes},
          {"algorithm", choice.algorithm->name},
          {"by", kBy[static_cast<std::size_t>(choice.by)]},
          {"variable", algorithm_variable(call.collective)},
          {"rules", choice.rules->name},
          {"rule", describe(choice.rule, *choice.rules)},
          {"passed_over", std::move(passed_over)}};
}

std::string rule_text(const ordered_json& row, const ordered_json& rule) {
  return fmt::format("rule {} of {} ({})", rule["number"].get<int>(),
                     row["rules"] == "built-in" ? "the built-in rules" : row["rules"].get<std::string>(),
                     rule["covers"].get<std::string>());
}

std::string reason_text(const ordered_json& row) {
  if (row["by"] == "variable") return row["variable"].get<std::string>();
  if (row["by"] == "rule") return rule_text(row, row["rule"]);
  return "the first algorithm of the collective, for no rule fits";
}

}  // namespace

ordered_json choose_rows(const ChooseQuestion& question, const Config& config) {
  const std::uint64_t most_ranks = question.dealt ? 1u << 24 : 1u << 28;  // of dealt ranks each takes memory
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
  const Collective collective = collective_named(question.collective);
  const auto ranks = parse_quantities("--ranks", question.ranks, 1, most_ranks);
  const auto bytes = parse_quantities("--bytes", question.bytes, 0, kMostBytes);
  if (question.per_node < 1)
    throw Error(Errc::invalid_argument, fmt::format("--ppn {}: a number from 1 on is valid", question.per_node));
  if (question.processors.value_or(1) < 1)
    throw Error(Errc::invalid_argument,
                fmt::format("--processors {}: a number from 1 on is valid", *question.processors));
  ordered_json rows = ordered_json::array();
  for (const std::uint64_t count : ranks) {
    const core::NodeMap nodes = nodes_of(static_cast<int>(count), question);
    for (const std::uint64_t size : bytes)
      rows.push_back(row_of(call_of(collective, question, nodes, size), question, config));
  }
  return rows;
}

std::string choose_text(const ordered_json& rows) {
  constexpr const char* kColumns = "{:<14} {:>9} {:>10} {:>9}  {:<20} {}\n";
  std::string text =
      fmt::format(fmt::runtime(kColumns), "collective", "ranks", "ranks/node", "size", "algorithm", "by");
  for (const ordered_json& row : rows) {
    fmt::format_to(std::back_inserter(text), fmt::runtime(kColumns), row["collective"].get<std::string>(),
                   row["ranks"].get<int>(), row["ranks_per_node"].get<int>(), bytes_text(row["bytes"].get<double>()),
                   row["algorithm"].get<std::string>(), reason_text(row));
    for (const ordered_json& each : row["passed_over"])
      fmt::format_to(std::back_inserter(text), "    not {}, of {}: only for {}\n", each["algorithm"].get<std::string>(),
                     each["rule"].is_null() ? row["variable"].get<std::string>() : rule_text(row, each["rule"]),
                     each["restriction"].get<std::string>());
  }
  return text;
}

}  // namespace fab::tools
