// The built-in rules, and the tables that they are made of.
#pragma once

#include <span>

#include "collectives/choice/rules.h"

namespace fab::collectives {

/// A Rule as a constant.
struct BuiltInRule {
  Collective collective;
  std::size_t most_bytes;
  int most_ranks;
  const char* algorithm;
  Where where = Where::anywhere;
  int least_per_node = 1;
};

/// For ranks that are dealt to nodes in turn: measured.
[[nodiscard]] std::span<const BuiltInRule> scattered_rules();
/// For nodes that TCP joins: measured.
[[nodiscard]] std::span<const BuiltInRule> rules_over_tcp();
/// For nodes of several ranks: written by fab_tune.
[[nodiscard]] std::span<const BuiltInRule> simulated_rules();
/// For all others, and what the former leave out.
[[nodiscard]] std::span<const BuiltInRule> measured_rules();

/// In this order.
[[nodiscard]] const Rules& built_in_rules();

}  // namespace fab::collectives
