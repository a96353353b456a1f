#include "collectives/choice/select.h"

#include <fmt/core.h>

#include <algorithm>

#include "collectives/choice/built_in_rules.h"
#include "core/base/processors.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

[[noreturn]] void refuse(Collective collective, const std::string& name) {
  throw Error(Errc::configuration, fmt::format("{}: there is no algorithm \"{}\"; valid are auto, {}",
                                               algorithm_variable(collective), name, algorithm_names(collective)));
}

/// Null for "auto".
const Algorithm* chosen(Collective collective, const Config& config) {
  const std::string& name = config.algorithms[static_cast<std::size_t>(collective)];
  if (name.empty()) return nullptr;
  const Algorithm* algorithm = find_algorithm(collective, name);
  if (algorithm == nullptr) refuse(collective, name);
  return algorithm;
}

void choose_by_rules(const CollectiveCall& call, Choice& choice) {
  for (const Rule& rule : choice.rules->rows) {
    if (!rule.covers(call)) continue;
    const Algorithm* algorithm = find_algorithm(rule.collective, rule.algorithm);
    if (algorithm == nullptr) continue;
    if (algorithm->restriction.allows(call)) {
      choice.algorithm = algorithm;
      choice.rule = &rule;
      choice.by = Choice::By::rule;
      return;
    }
    choice.passed_over.push_back({&rule, algorithm});
  }
  choice.algorithm = &algorithms(call.collective).front();
}

}  // namespace

void check_choices(const Config& config) {
  for (std::size_t i = 0; i < kCollectives; ++i) static_cast<void>(chosen(static_cast<Collective>(i), config));
}

Config with_rules(Config config) {
  if (config.rules.empty() || config.file_rules) return config;
  config.file_rules = std::make_shared<const Rules>(read_rules(config.rules));
  if (!config.file_rules->lengths.empty())
    config.local_lengths = lengths_of(*config.file_rules, core::processor_kind());
  config.rules += fmt::format(" (digest {:016x})", digest_of(*config.file_rules));
  return config;
}

Choice choose(const CollectiveCall& call, const Config& config) {
  Choice choice{.rules = config.file_rules ? config.file_rules.get() : &built_in_rules()};
  const Algorithm* wanted = chosen(call.collective, config);
  if (wanted == nullptr || !wanted->restriction.allows(call)) {
    if (wanted != nullptr) choice.passed_over.push_back({nullptr, wanted});
    choose_by_rules(call, choice);
    return choice;
  }
  choice.algorithm = wanted;
  choice.by = Choice::By::variable;
  return choice;
}

const Algorithm& select(const CollectiveCall& call, const Config& config) { return *choose(call, config).algorithm; }

const Algorithm& select_by_rules(const CollectiveCall& call) {
  Choice choice{.rules = call.rules != nullptr ? call.rules : &built_in_rules()};
  choose_by_rules(call, choice);
  return *choice.algorithm;
}

CommitOptions commit_options(const Algorithm& algorithm, const CollectiveCall& call, const Config& config) {
  const bool crowded = call.one_node && call.crowded;
  switch (algorithm.cut) {
    case Cut::never:
      return {};
    case Cut::where_crowded:
      if (!crowded || call.ranks <= 2) return {};
      return {.segment_bytes = std::min(config.segment_bytes, kCrowdedSegmentBytes)};
    case Cut::unless_crowded:
      if (crowded) return {};
      break;
    case Cut::always:
      break;
  }
  return {.segment_bytes = call.one_node ? std::min(config.segment_bytes, kNodeSegmentBytes) : config.segment_bytes};
}

}  // namespace fab::collectives
