// The built-in rules, and the tables that they are made of.
#pragma once

#include <span>

#include "collectives/rules.h"

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

[[nodiscard]] std::span<const BuiltInRule> measured_rules();

[[nodiscard]] const Rules& built_in_rules();

}  // namespace fab::collectives
