#include "collectives/neighbor/node_exchange.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "collectives/neighbor/edges.h"

namespace fab::collectives {

namespace {

constexpr std::uint32_t kGatherSlot = kCarrierSlots;
constexpr std::uint32_t kCrossSlot = kCarrierSlots + 1;
constexpr std::uint32_t kSpreadSlot = kCarrierSlots + 2;

using Fields = std::vector<Layout::Field>;

Block block_of(BufferId buffer, const Fields& fields) { return {buffer, 0, Layout::structure(fields)}; }

Layout::Field bytes_at(std::ptrdiff_t offset, std::uint64_t bytes) {
  return {1, offset, Layout::contiguous(static_cast<std::size_t>(bytes))};
}

/// The values of a pair in scratch memory: by source, then by number.
class Values {
 public:
  using Key = std::pair<Rank, std::uint32_t>;

  Values(ScheduleBuilder& builder, const NodePair& pair) {
    for (const NodeEdge& edge : pair.edges) places_[{edge.source, edge.value}].bytes = edge.bytes;
    for (const auto& [key, place] : places_) bytes_ += static_cast<std::size_t>(place.bytes);
    offset_ = builder.scratch(bytes_);
    std::ptrdiff_t offset = offset_;
    for (auto& [key, place] : places_) {
      place.offset = offset;
      offset += static_cast<std::ptrdiff_t>(place.bytes);
    }
  }

  [[nodiscard]] Block all() const { return {BufferId::scratch, offset_, Layout::contiguous(bytes_)}; }
  [[nodiscard]] Layout::Field of(const NodeEdge& edge) const {
    const Place& place = places_.at({edge.source, edge.value});
    return bytes_at(place.offset, place.bytes);
  }
  /// Those of each source, one behind the other.
  void add_to(std::map<Rank, Fields>& fields) const {
    for (const auto& [key, place] : places_) fields[key.first].push_back(bytes_at(place.offset, place.bytes));
  }

 private:
  struct Place {
    std::ptrdiff_t offset = 0;
    std::uint64_t bytes = 0;
  };
  std::map<Key, Place> places_;
  std::size_t bytes_ = 0;
  std::ptrdiff_t offset_ = 0;
};

class NodeExchange {
 public:
  NodeExchange(const core::NodeMap& map, const NodeRoutes& routes, const Neighborhood& neighborhood, Rank self,
               ScheduleBuilder& builder, std::span<const Block> outgoing, std::span<const Block> incoming)
      : map_(map),
        routes_(routes),
        neighborhood_(neighborhood),
        self_(self),
        node_(map.node_of(self)),
        builder_(builder),
        outgoing_(outgoing),
        incoming_(incoming) {
    for (const NodePair& pair : routes.sends) sent_.emplace_back(builder, pair);
    for (const NodePair& pair : routes.receives) received_.emplace_back(builder, pair);
  }

  void gather() {
    std::map<Rank, Fields> expected;
    for (const Values& values : sent_) values.add_to(expected);
    for (const auto& [source, fields] : expected)
      if (source != self_) builder_.recv(source, kGatherSlot, block_of(BufferId::scratch, fields));
    for (const auto& [carrier, fields] : own_values()) {
      const Block values = block_of(outgoing_.front().buffer, fields);
      if (carrier != self_)
        builder_.send(carrier, kGatherSlot, values);
      else
        builder_.copy(values, block_of(BufferId::scratch, expected.at(self_)));
    }
  }

  void cross() {
    for (std::size_t i = 0; i < received_.size(); ++i)
      builder_.recv(sending_carrier(map_, routes_.receives[i].from, node_), kCrossSlot, received_[i].all());
    for (std::size_t i = 0; i < sent_.size(); ++i)
      builder_.send(receiving_carrier(map_, node_, routes_.sends[i].to), kCrossSlot, sent_[i].all());
  }

  enum class Edges { within_node, between_nodes };
  /// Those of one kind, but for what goes by nodes.
  void go_directly(Edges which, const char* call) {
    const auto goes = [&](const Edge& edge, const std::set<int>& by_node) {
      const int node = map_.node_of(edge.peer);
      return (node == node_) == (which == Edges::within_node) && !by_node.contains(node);
    };
    Neighborhood direct;
    std::vector<Block> outgoing;
    std::vector<Block> incoming;
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      if (!goes(neighborhood_.sources[i], routes_.from)) continue;
      direct.sources.push_back(neighborhood_.sources[i]);
      incoming.push_back(incoming_[i]);
    }
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      if (!goes(neighborhood_.destinations[i], routes_.to)) continue;
      direct.destinations.push_back(neighborhood_.destinations[i]);
      outgoing.push_back(outgoing_[i]);
    }
    exchange_along(direct, self_, builder_, outgoing, incoming, call);
  }

  void spread() {
    const std::map<Rank, Fields> expected = own_blocks();
    for (const auto& [carrier, fields] : expected)
      if (carrier != self_) builder_.recv(carrier, kSpreadSlot, block_of(BufferId::recv, fields));
    for (const auto& [destination, fields] : blocks_to_spread()) {
      const Block blocks = block_of(BufferId::scratch, fields);
      if (destination != self_)
        builder_.send(destination, kSpreadSlot, blocks);
      else
        builder_.copy(blocks, block_of(BufferId::recv, expected.at(self_)));
    }
  }

 private:
  /// This rank's values, by carrier; for one carrier by node, then by number, as they were counted.
  [[nodiscard]] std::map<Rank, Fields> own_values() const {
    std::map<int, std::map<std::uint32_t, std::size_t>> blocks;
    const NodeEdges edges = edges_between_nodes(map_, self_, neighborhood_, outgoing_, {});
    std::size_t edge = 0;
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      const int node = map_.node_of(neighborhood_.destinations[i].peer);
      if (node == node_) continue;
      const std::uint32_t value = edges.outgoing[edge++].value;
      if (routes_.to.contains(node)) blocks[node].emplace(value, i);
    }
    std::map<Rank, Fields> values;
    for (const auto& [node, of_node] : blocks)
      for (const auto& [number, i] : of_node)
        values[sending_carrier(map_, node_, node)].push_back({1, outgoing_[i].offset, outgoing_[i].layout});
    return values;
  }

  /// Where this rank's blocks belong, by carrier; for one carrier by node, then by source and slot.
  [[nodiscard]] std::map<Rank, Fields> own_blocks() const {
    std::map<std::tuple<int, Rank, std::uint32_t>, std::size_t> blocks;
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      const Edge& edge = neighborhood_.sources[i];
      const int node = map_.node_of(edge.peer);
      if (routes_.from.contains(node)) blocks.emplace(std::tuple(node, edge.peer, edge.slot), i);
    }
    std::map<Rank, Fields> places;
    for (const auto& [key, i] : blocks)
      places[receiving_carrier(map_, std::get<0>(key), node_)].push_back({1, incoming_[i].offset, incoming_[i].layout});
    return places;
  }

  /// In the order of own_blocks() at each destination.
  [[nodiscard]] std::map<Rank, Fields> blocks_to_spread() const {
    std::map<Rank, Fields> blocks;
    for (std::size_t i = 0; i < received_.size(); ++i)
      for (const NodeEdge& edge : routes_.receives[i].edges) blocks[edge.destination].push_back(received_[i].of(edge));
    return blocks;
  }

  const core::NodeMap& map_;
  const NodeRoutes& routes_;
  const Neighborhood& neighborhood_;
  const Rank self_;
  const int node_;
  ScheduleBuilder& builder_;
  const std::span<const Block> outgoing_;
  const std::span<const Block> incoming_;
  std::vector<Values> sent_;      ///< of routes_.sends
  std::vector<Values> received_;  ///< of routes_.receives
};

}  // namespace

void exchange_by_nodes(const core::NodeMap& map, const NodeRoutes& routes, const Neighborhood& neighborhood, Rank self,
                       ScheduleBuilder& builder, std::span<const Block> outgoing, std::span<const Block> incoming,
                       const char* call) {
  NodeExchange exchange(map, routes, neighborhood, self, builder, outgoing, incoming);
  exchange.gather();
  exchange.go_directly(NodeExchange::Edges::within_node, call);
  builder.round();
  exchange.cross();
  exchange.go_directly(NodeExchange::Edges::between_nodes, call);
  builder.round();
  exchange.spread();
}

std::vector<Edge> arriving_edges(const core::NodeMap& map, const NodeRoutes& routes, std::span<const Edge> sources,
                                 Rank self) {
  std::vector<Edge> arriving(sources.begin(), sources.end());
  for (Edge& edge : arriving) {
    const int node = map.node_of(edge.peer);
    if (routes.from.contains(node)) edge = {receiving_carrier(map, node, map.node_of(self)), kSpreadSlot};
  }
  return arriving;
}

}  // namespace fab::collectives
