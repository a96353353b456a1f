#include "bindings/tools/tune_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

using collectives::Rule;
using collectives::Where;
using Row = std::vector<std::string>;

/// Of each candidate: how much worse than the best known ones it is, on all networks together.
std::vector<double> scores_of(const std::vector<Candidate>& candidates) {
  std::vector<double> scores(candidates.size(), 1);
  const std::size_t networks = candidates.front().costs.size();
  for (std::size_t network = 0; network < networks; ++network) {
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& each : candidates)
      if (each.known) best = std::min(best, each.costs[network]);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (best > 0) scores[i] *= std::pow(candidates[i].costs[network] / best, 1.0 / static_cast<double>(networks));
  }
  return scores;
}

/// `smaller` and `fewer`: what the next smaller size, and fewer ranks, have; empty if there is nothing.
std::string choose_one(const std::vector<Candidate>& candidates, const std::string& smaller, const std::string& fewer,
                       double within) {
  const std::vector<double> scores = scores_of(candidates);
  std::size_t best = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].known && (best == candidates.size() || scores[i] < scores[best])) best = i;
  const auto is_allowed = [&](const std::string& name) {
    return std::ranges::find(candidates, name, &Candidate::algorithm) != candidates.end();
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool could_be_better = best == candidates.size() || (!candidates[i].known && scores[i] < scores[best]);
    if (could_be_better) return is_allowed(fewer) ? fewer : "";
  }
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].known && candidates[i].algorithm == smaller && scores[i] <= within * scores[best]) return smaller;
  return candidates[best].algorithm;
}

std::size_t between(std::size_t size, std::size_t next) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(size) * static_cast<double>(next)));
}

void add_rules(std::vector<Rule>& rules, const TuneGrid& grid, const Row& row, int most_ranks) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool last = i + 1 == row.size();
    if (row[i].empty() || (!last && row[i + 1] == row[i])) continue;
    const std::size_t most = grid.bounded ? grid.bytes.back() : collectives::kAnyBytes;
    rules.push_back({grid.collective, last ? most : between(grid.bytes[i], grid.bytes[i + 1]), most_ranks,
                     grid.least_per_node, grid.where, row[i]});
  }
}

std::string source_line(const Rule& rule) {
  return fmt::format("    {{Collective::{}, {}, {}, \"{}\", Where::{}, {}}},\n", to_string(rule.collective),
                     rule.most_bytes == collectives::kAnyBytes ? "kAnyBytes" : std::to_string(rule.most_bytes),
                     rule.most_ranks == collectives::kAnyRanks ? "kAnyRanks" : std::to_string(rule.most_ranks),
                     rule.algorithm, collectives::name_of(rule.where), rule.least_per_node);
}

}  // namespace

bool is_tuned(Collective collective) noexcept {
  return collective != Collective::gatherv && collective != Collective::scatterv &&
         collective != Collective::allgatherv && collective != Collective::alltoallv;
}

std::vector<Collective> tuned_collectives(const std::vector<std::string>& names) {
  std::vector<Collective> all;
  for (std::size_t i = 0; i < kCollectives; ++i)
    if (is_tuned(static_cast<Collective>(i))) all.push_back(static_cast<Collective>(i));
  if (names.empty()) return all;
  std::vector<Collective> wanted;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, [](Collective each) { return to_string(each); });
    if (found == all.end()) {
      std::string valid;
      for (const Collective each : all) valid += fmt::format("{}{}", valid.empty() ? "" : ", ", to_string(each));
      throw Error(Errc::invalid_argument, fmt::format("--collective {}: valid are {}", in_quotes(name), valid));
    }
    wanted.push_back(*found);
  }
  return wanted;
}

std::vector<Row> choose_algorithms(const TuneGrid& grid, double within) {
  std::vector<Row> chosen;
  for (const auto& row : grid.candidates) {
    Row algorithms;
    for (std::size_t i = 0; i < row.size(); ++i)
      algorithms.push_back(choose_one(row[i], algorithms.empty() ? "" : algorithms.back(),
                                      chosen.empty() ? "" : chosen.back()[i], within));
    chosen.push_back(std::move(algorithms));
  }
  return chosen;
}

std::vector<Rule> rules_of(const TuneGrid& grid, const std::vector<Row>& chosen) {
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const bool last = i + 1 == chosen.size();
    if (!last && chosen[i + 1] == chosen[i]) continue;
    add_rules(rules, grid, chosen[i], last ? collectives::kAnyRanks : grid.ranks[i]);
  }
  return rules;
}

std::string to_source(const std::vector<Rule>& rules, const std::string& made_by) {
  std::string text = fmt::format(
      "// The built-in rules for nodes of several ranks: what the simulator says.\n"
      "// clang-format off\n"
      "// Written by\n"
      "//   {}\n"
      "#include \"collectives/choice/built_in_rules.h\"\n\n"
      "namespace fab::collectives {{\n\nnamespace {{\n\nconstexpr BuiltInRule kSimulated[] = {{\n",
      made_by);
  for (const Rule& rule : rules) text += source_line(rule);
  return text +
         "};\n\n}  // namespace\n\nstd::span<const BuiltInRule> simulated_rules() { return kSimulated; }\n\n"
         "}  // namespace fab::collectives\n";
}

}  // namespace fab::tools
