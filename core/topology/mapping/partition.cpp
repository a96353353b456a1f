// Regions of any graph for nodes: Scotch cuts, what it leaves uneven is balanced, then places are exchanged as long as
// that helps; the same exchanges from the identity are another candidate.
#include <fmt/core.h>

#include <utility>

#include "core/topology/mapping/placement.h"
#include "core/topology/mapping/scotch/scotch.h"
#include "fab/error.h"

namespace fab {

Mapping Mapping::partition(const Traffic& traffic, std::span<const int> nodes) {
  if (nodes.size() != static_cast<std::size_t>(traffic.places()))
    throw Error(Errc::invalid_argument, fmt::format("Mapping::partition: nodes has {} entries and the traffic {} "
                                                    "places; they must be equal",
                                                    nodes.size(), traffic.places()));
  const mapping::Nodes numbered(nodes);
  mapping::Placement best = numbered.of_rank;
  if (numbered.sizes.size() > 1) {
    mapping::refine(traffic, numbered, best);
    const Traffic symmetric = traffic.symmetric();
    mapping::Placement cut_out = mapping::partition_by_scotch(symmetric, numbered);
    mapping::balance(symmetric, numbered, cut_out);
    mapping::refine(traffic, numbered, cut_out);
    if (mapping::cut_weight(traffic, cut_out) < mapping::cut_weight(traffic, best)) best = std::move(cut_out);
  }
  return mapping::to_mapping(best, numbered);
}

}  // namespace fab
