#include "bindings/tools/tune_simulate.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>

#include "bindings/tools/patterns.h"
#include "bindings/tools/quantity.h"
#include "bindings/tools/tune_rules.h"
#include "collectives/choice/registry.h"
#include "fab/error.h"
#include "providers/sim/predict.h"

namespace fab::tools {

namespace {

/// Those that rules may choose.
std::vector<Pattern> patterns_of(Collective collective) {
  std::vector<Pattern> found;
  for (const collectives::Algorithm& algorithm : collectives::algorithms(collective))
    if (!algorithm.teaches) found.push_back(find_patterns(std::string(to_string(collective)), algorithm.name).front());
  return found;
}

/// The costs of one collective on one kind of nodes.
class Simulated {
 public:
  Simulated(const SimulateRequest& request, Collective collective, int per_node, ProgressLine& progress)
      : request_(request), progress_(progress), patterns_(patterns_of(collective)), networks_(request.networks) {
    for (sim::Model& each : networks_) each.ranks_per_node = per_node;
    grid_.collective = collective;
    grid_.least_per_node = per_node;
    grid_.where = collectives::Where::nodes;
    grid_.bytes = request.bytes;
    grid_.bounded = request.bounded && collective != Collective::barrier;
    if (collective == Collective::barrier) grid_.bytes = {0};
    for (const int ranks : request.ranks)
      if (ranks > per_node && ranks % per_node == 0) grid_.ranks.push_back(ranks);
  }

  [[nodiscard]] std::vector<collectives::Rule> rules() {
    for (const int ranks : grid_.ranks) {
      grid_.candidates.emplace_back();
      for (const std::size_t bytes : grid_.bytes)
        grid_.candidates.back().push_back(
            candidates({.ranks = ranks, .bytes = bytes, .per_node = grid_.least_per_node}));
    }
    return rules_of(grid_, choose_algorithms(grid_, request_.within));
  }

 private:
  std::vector<Candidate> candidates(const PatternCall& call) {
    std::vector<Candidate> all;
    for (const Pattern& pattern : patterns_) {
      if (!pattern.allows(call)) continue;
      progress_.begin(fmt::format("{} {}, {} ranks, {} on each node, {}", pattern.collective, pattern.algorithm,
                                  call.ranks, call.per_node, bytes_text(static_cast<double>(call.bytes))));
      all.push_back(candidate(pattern, call));
    }
    return all;
  }

  Candidate candidate(const Pattern& pattern, const PatternCall& call) {
    const auto schedule_of = [&](Rank rank) { return pattern.build(rank, call); };
    const auto limit = static_cast<double>(request_.limit);
    std::vector<double>& latest = latest_[{pattern.algorithm, call.bytes}];
    if (sim::estimate_work(call.ranks, call.root, schedule_of, limit).operations > limit) {
      latest.resize(networks_.size());  // of which nothing is known: 0 is a bound, too
      return {pattern.algorithm, latest, false};
    }
    latest.clear();
    const auto watch = [&](const sim::Progress& at) { progress_.show(at.what, at.done, at.all); };
    for (const sim::Model& network : networks_)
      latest.push_back(sim::in_us(sim::longest(sim::predict(network, call.ranks, schedule_of, {.watch = watch}))));
    return {pattern.algorithm, latest};
  }

  const SimulateRequest& request_;
  ProgressLine& progress_;
  std::vector<Pattern> patterns_;
  std::vector<sim::Model> networks_;
  TuneGrid grid_{};
  std::map<std::pair<std::string, std::size_t>, std::vector<double>> latest_;  ///< costs, by algorithm and bytes
};

}  // namespace

std::vector<collectives::Rule> simulate_rules(const SimulateRequest& request, ProgressLine& progress) {
  std::vector<int> per_node = request.per_node;
  std::ranges::sort(per_node, std::greater<>());  // the first rule that covers a call counts
  std::vector<collectives::Rule> rules;
  for (const Collective collective : request.collectives) {
    for (const int on_node : per_node) {
      const auto more = Simulated(request, collective, on_node, progress).rules();
      rules.insert(rules.end(), more.begin(), more.end());
    }
  }
  progress.clear();
  return rules;
}

}  // namespace fab::tools
