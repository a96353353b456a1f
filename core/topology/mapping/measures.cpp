// Measures of a mapping: its traffic between nodes, and the links that its longest edge takes.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "fab/error.h"
#include "fab/mapping.h"

namespace fab {
namespace {

void check_sizes(const char* call, const Traffic& traffic, const Mapping& mapping) {
  if (traffic.places() == mapping.size()) return;
  throw Error(Errc::invalid_argument,
              fmt::format("{}: the traffic has {} places and the mapping {}; they must be equal", call,
                          traffic.places(), mapping.size()));
}

}  // namespace

Cut cut(const Traffic& traffic, const Mapping& mapping, std::span<const int> nodes) {
  check_sizes("cut", traffic, mapping);
  if (nodes.size() != mapping.ranks().size())
    throw Error(Errc::invalid_argument, fmt::format("cut: nodes has {} entries and the mapping {} ranks; they must be "
                                                    "equal",
                                                    nodes.size(), mapping.size()));
  const auto node_at = [&](int place) {
    return nodes[static_cast<std::size_t>(mapping.ranks()[static_cast<std::size_t>(place)])];
  };
  struct Leaving {
    std::int64_t messages = 0;
    std::int64_t weight = 0;
  };
  std::unordered_map<int, Leaving> of_nodes;
  for (int place = 0; place < traffic.places(); ++place) {
    const int node = node_at(place);
    const std::span<const int> targets = traffic.targets(place);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (node_at(targets[i]) == node) continue;
      ++of_nodes[node].messages;
      of_nodes[node].weight += traffic.weight(place, i);
    }
  }
  Cut result;
  for (const auto& [node, leaving] : of_nodes) {
    result.messages += leaving.messages;
    result.weight += leaving.weight;
    result.most_messages = std::max(result.most_messages, leaving.messages);
    result.most_weight = std::max(result.most_weight, leaving.weight);
  }
  return result;
}

int hypercube_hops(Rank from, Rank to) noexcept {
  return std::popcount(static_cast<unsigned>(from) ^ static_cast<unsigned>(to));
}

Hops grid_hops(Cartesian processors) {
  return [grid = std::move(processors)](Rank from, Rank to) {
    const std::vector<int> here = grid.coordinates(from);
    const std::vector<int> there = grid.coordinates(to);
    int hops = 0;
    for (int d = 0; d < grid.dimensions(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      const int distance = std::abs(there[i] - here[i]);
      hops += grid.periodic(Dimension{d}) ? std::min(distance, grid.dims()[i] - distance) : distance;
    }
    return hops;
  };
}

int dilation(const Traffic& traffic, const Mapping& mapping, const Hops& hops) {
  check_sizes("dilation", traffic, mapping);
  const auto rank_at = [&](int place) { return mapping.ranks()[static_cast<std::size_t>(place)]; };
  int most = 0;
  for (int place = 0; place < traffic.places(); ++place)
    for (const int target : traffic.targets(place)) most = std::max(most, hops(rank_at(place), rank_at(target)));
  return most;
}

}  // namespace fab
