// Nodes for tests of algorithms that know of them.
#pragma once

#include <string_view>
#include <vector>

#include "collectives/choice/registry.h"
#include "core/topology/node_map.h"

namespace fab::test {

[[nodiscard]] inline bool needs_nodes(const collectives::Algorithm& algorithm) {
  return std::string_view(algorithm.restriction.text).find("several nodes") != std::string_view::npos;
}

/// One node, unless the algorithm needs several. Then three ranks share one, but for the last ones.
[[nodiscard]] inline std::vector<int> nodes_for(const collectives::Algorithm& algorithm, int ranks) {
  const int per_node = needs_nodes(algorithm) ? 3 : ranks;
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / per_node);
  return nodes;
}

/// What a communicator knows of these nodes: nothing unless some of its ranks share one, and others do not.
[[nodiscard]] inline const core::NodeMap* known(const core::NodeMap& map) {
  return map.nodes() > 1 && map.largest() > 1 ? &map : nullptr;
}

}  // namespace fab::test
