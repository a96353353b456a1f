#include "collectives/neighbor/node_pairs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fab::collectives {

namespace {

// No block has as many, and a sender's is not a receiver's.
constexpr std::uint64_t kSentDirectly = ~0ull;
constexpr std::uint64_t kReceivedDirectly = ~0ull - 1;

/// Other nodes from 0 on, beginning with the next one.
int distance(const core::NodeMap& map, int from, int to) { return (to - from + map.nodes()) % map.nodes() - 1; }

/// Numbers the values that a rank sends to each node.
class ValueNumbers {
 public:
  std::uint32_t number(int node, const Block& block) {
    std::vector<Value>& alike = known_[{node, block.buffer, block.offset, block.layout.hash()}];
    const auto found = std::ranges::find(alike, block.layout, &Value::layout);
    if (found != alike.end()) return found->number;
    alike.push_back({block.layout, counts_[node]++});
    return alike.back().number;
  }

 private:
  struct Value {
    Layout layout;
    std::uint32_t number;
  };
  std::map<std::tuple<int, BufferId, std::ptrdiff_t, std::uint64_t>, std::vector<Value>> known_;
  std::map<int, std::uint32_t> counts_;
};

}  // namespace

Rank sending_carrier(const core::NodeMap& map, int from, int to) {
  return map.rank_of(from, distance(map, from, to) % map.size_of(from));
}

Rank receiving_carrier(const core::NodeMap& map, int from, int to) {
  const int size = map.size_of(to);
  return map.rank_of(to, (distance(map, from, to) + size / 2) % size);
}

NodeEdges edges_between_nodes(const core::NodeMap& map, Rank self, const Neighborhood& neighborhood,
                              std::span<const Block> outgoing, std::span<const Block> incoming) {
  NodeEdges edges;
  ValueNumbers values;
  const int own = map.node_of(self);
  const auto crowded = [&](std::span<const Edge> of_direction) {
    return std::ranges::any_of(
        of_direction, [&](const Edge& edge) { return edge.slot >= kCarrierSlots && map.node_of(edge.peer) == own; });
  };
  const bool sends_directly = crowded(neighborhood.destinations);
  const bool receives_directly = crowded(neighborhood.sources);
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    const Edge& edge = neighborhood.destinations[i];
    const int node = map.node_of(edge.peer);
    if (node == own) continue;
    edges.outgoing.push_back({self, edge.peer, edge.slot, values.number(node, outgoing[i]),
                              sends_directly ? kSentDirectly : outgoing[i].layout.size()});
  }
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const Edge& edge = neighborhood.sources[i];
    if (map.node_of(edge.peer) == own) continue;
    edges.incoming.push_back(
        {edge.peer, self, edge.slot, 0, receives_directly ? kReceivedDirectly : incoming[i].layout.size()});
  }
  return edges;
}

}  // namespace fab::collectives
