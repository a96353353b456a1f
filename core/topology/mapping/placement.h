// A placement: the node of each place. Mappings that know of nodes search for one and turn it into a mapping.
#pragma once

#include <span>
#include <vector>

#include "fab/mapping.h"

namespace fab::mapping {

/// Nodes numbered from 0 in the order in which ranks name them first.
struct Nodes {
  explicit Nodes(std::span<const int> names);

  std::vector<int> of_rank;
  std::vector<int> sizes;  ///< ranks of each node
};

/// Node of each place. As many places as the node has ranks, unless said otherwise.
using Placement = std::vector<int>;

/// The weight of messages between nodes.
[[nodiscard]] std::int64_t cut_weight(const Traffic& traffic, const Placement& placement);

/// Places in a row go to node 0, then to node 1, and so on.
[[nodiscard]] Placement fill_in_order(std::span<const int> places, const Nodes& nodes);

/// The ranks of a node take its places, both in ascending order.
[[nodiscard]] Mapping to_mapping(const Placement& placement, const Nodes& nodes);

/// Gives nodes with too many places fewer, and others more, until each has its number; takes those that cost least.
/// `traffic` is symmetric.
void balance(const Traffic& traffic, const Nodes& nodes, Placement& placement);

/// Exchanges places between nodes as long as that makes the cut lighter. Leaves large placements as they are, for which
/// it would take long.
void refine(const Traffic& traffic, const Nodes& nodes, Placement& placement);

}  // namespace fab::mapping
