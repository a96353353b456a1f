// Makes rules from predictions of the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/tools/progress_line.h"
#include "collectives/choice/rules.h"
#include "providers/sim/model.h"

namespace fab::tools {

struct SimulateRequest {
  std::vector<Collective> collectives{};
  std::vector<sim::Model> networks{};
  std::vector<int> per_node{};
  std::vector<int> ranks{};  ///< those that fill several nodes count
  std::vector<std::size_t> bytes{};
  std::uint64_t limit = 0;  ///< operations of one call that is simulated
  double within = 1;
  bool bounded = false;  ///< sizes above the largest get no rule
};

/// Simulates every algorithm of every collective, for every number of ranks that are a multiple of those on a node.
[[nodiscard]] std::vector<collectives::Rule> simulate_rules(const SimulateRequest& request, ProgressLine& progress);

}  // namespace fab::tools
