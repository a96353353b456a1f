#include "collectives/neighbor/node_cost.h"

#include <set>
#include <utility>

namespace fab::collectives {

PairTraffic traffic_of(const NodePair& pair) {
  PairTraffic traffic;
  std::set<std::pair<Rank, Rank>> ends;
  std::set<std::pair<Rank, std::uint32_t>> values;
  std::set<Rank> sources;
  std::set<Rank> destinations;
  for (const NodeEdge& edge : pair.edges) {
    ends.emplace(edge.source, edge.destination);
    sources.insert(edge.source);
    destinations.insert(edge.destination);
    traffic.bytes += edge.bytes;
    if (values.emplace(edge.source, edge.value).second) traffic.value_bytes += edge.bytes;
  }
  traffic.messages = ends.size();
  traffic.sources = sources.size();
  traffic.destinations = destinations.size();
  return traffic;
}

const NodeFigures& figures_of(NodeNetwork network) noexcept {
  static constexpr NodeFigures kKernel{
      .message_us = 3, .byte_us = 0.0003, .node_message_us = 0.5, .node_byte_us = 0.0002};
  static constexpr NodeFigures kCard{
      .message_us = 0.4, .byte_us = 0.00008, .node_message_us = 0.3, .node_byte_us = 0.0002};
  return network == NodeNetwork::card ? kCard : kKernel;
}

PairCost cost_of(const PairTraffic& traffic, const NodeFigures& figures) {
  const auto between = [&](std::uint64_t messages, std::uint64_t bytes) {
    return static_cast<double>(messages) * figures.message_us + static_cast<double>(bytes) * figures.byte_us;
  };
  const auto within = [&](std::uint64_t messages, std::uint64_t bytes) {
    return static_cast<double>(messages) * figures.node_message_us + static_cast<double>(bytes) * figures.node_byte_us;
  };
  return {.direct_us = between(traffic.messages, traffic.bytes),
          .by_node_us = between(1, traffic.value_bytes) +
                        within(traffic.sources + traffic.destinations + 2, traffic.value_bytes + traffic.bytes)};
}

}  // namespace fab::collectives
