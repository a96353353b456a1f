#include "core/topology/mapping/placement.h"

#include <numeric>
#include <unordered_map>
#include <utility>

namespace fab::mapping {

Nodes::Nodes(std::span<const int> names) {
  std::unordered_map<int, int> numbers;
  of_rank.reserve(names.size());
  for (const int name : names) {
    const auto [found, is_new] = numbers.try_emplace(name, static_cast<int>(sizes.size()));
    if (is_new) sizes.push_back(0);
    ++sizes[static_cast<std::size_t>(found->second)];
    of_rank.push_back(found->second);
  }
}

std::int64_t cut_weight(const Traffic& traffic, const Placement& placement) {
  std::int64_t weight = 0;
  for (int place = 0; place < traffic.places(); ++place) {
    const std::span<const int> targets = traffic.targets(place);
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (placement[static_cast<std::size_t>(targets[i])] != placement[static_cast<std::size_t>(place)])
        weight += traffic.weight(place, i);
  }
  return weight;
}

Placement fill_in_order(std::span<const int> places, const Nodes& nodes) {
  Placement placement(places.size());
  auto next = places.begin();
  for (std::size_t node = 0; node < nodes.sizes.size(); ++node)
    for (int i = 0; i < nodes.sizes[node]; ++i) placement[static_cast<std::size_t>(*next++)] = static_cast<int>(node);
  return placement;
}

Mapping to_mapping(const Placement& placement, const Nodes& nodes) {
  // Where each node's ranks begin in a list of all ranks by node.
  std::vector<std::size_t> next(nodes.sizes.size(), 0);
  std::exclusive_scan(nodes.sizes.begin(), nodes.sizes.end(), next.begin(), std::size_t{0});
  std::vector<std::size_t> next_of_place = next;
  std::vector<Rank> by_node(nodes.of_rank.size());
  for (std::size_t rank = 0; rank < by_node.size(); ++rank)
    by_node[next[static_cast<std::size_t>(nodes.of_rank[rank])]++] = static_cast<Rank>(rank);
  std::vector<Rank> ranks;
  ranks.reserve(placement.size());
  for (const int node : placement) ranks.push_back(by_node[next_of_place[static_cast<std::size_t>(node)]++]);
  return Mapping(std::move(ranks));
}

}  // namespace fab::mapping
