#include "collectives/choice/built_in_rules.h"

namespace fab::collectives {

const Rules& built_in_rules() {
  static const Rules rules = [] {
    Rules all{.name = "built-in", .rows = {}};
    for (const auto table : {scattered_rules(), rules_over_tcp(), simulated_rules(), measured_rules()})
      for (const BuiltInRule& row : table)
        all.rows.push_back(
            {row.collective, row.most_bytes, row.most_ranks, row.least_per_node, row.where, row.algorithm});
    return all;
  }();
  return rules;
}

}  // namespace fab::collectives
