#include "collectives/neighbor/node_agreement.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/hash.h"

namespace fab::collectives {

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t kEdgeWords = 4;
/// A pair of ranks may carry in both directions: its messages in step 2 differ by what they describe.
constexpr std::uint32_t kSentSlot = 0;
constexpr std::uint32_t kReceivedSlot = 1;

void add_edge(Words& words, Rank peer, const NodeEdge& edge) {
  words.push_back(static_cast<std::uint64_t>(peer));
  words.push_back(edge.slot);
  words.push_back(edge.value);
  words.push_back(edge.bytes);
}

/// Its end at `peer` is not set.
NodeEdge edge_from(std::span<const std::uint64_t> words) {
  return {
      .slot = static_cast<std::uint32_t>(words[1]), .value = static_cast<std::uint32_t>(words[2]), .bytes = words[3]};
}

/// Equal where both carriers list the same edges.
std::uint64_t fingerprint(const NodePair& pair) {
  std::uint64_t hash = pair.edges.size();
  for (const NodeEdge& edge : pair.edges) {
    hash = core::hash_with(hash, static_cast<std::uint64_t>(edge.source));
    hash = core::hash_with(hash, static_cast<std::uint64_t>(edge.destination));
    hash = core::hash_with(hash, edge.slot);
  }
  return hash;
}

/// A fingerprint and the sizes.
Words description_of(const NodePair& pair) {
  Words words{fingerprint(pair)};
  for (const NodeEdge& edge : pair.edges) words.push_back(edge.bytes);
  return words;
}

Words room_for_description(const NodePair& pair) { return Words(1 + pair.edges.size()); }

/// From the sending carrier: also the values, and what its network is.
Words sender_description_of(const NodePair& pair, std::uint64_t network) {
  Words words = description_of(pair);
  for (const NodeEdge& edge : pair.edges) words.push_back(edge.value);
  words.push_back(network);
  return words;
}

Words room_for_sender_description(const NodePair& pair) { return Words(2 + 2 * pair.edges.size()); }

bool describes(std::span<const std::uint64_t> words, const NodePair& pair) {
  const Words own = description_of(pair);
  return std::ranges::equal(words.first(own.size()), own);
}

void sort(NodePair& pair) {
  std::ranges::sort(pair.edges, {},
                    [](const NodeEdge& edge) { return std::tuple(edge.source, edge.destination, edge.slot); });
}

}  // namespace

NodeAgreement::NodeAgreement(const core::NodeMap& map, Rank self, const NodeEdges& own, std::uint64_t network,
                             Decide decide)
    : map_(map), self_(self), node_(map.node_of(self)), network_(network), decide_(std::move(decide)) {
  for (const NodeEdge& edge : own.outgoing) {
    const int node = map_.node_of(edge.destination);
    own_[sending_carrier(map_, node_, node)].to[node].push_back(edge);
  }
  for (const NodeEdge& edge : own.incoming) {
    const int node = map_.node_of(edge.source);
    own_[receiving_carrier(map_, node, node_)].from[node].push_back(edge);
  }
}

std::vector<Rank> NodeAgreement::mates() const {
  std::vector<Rank> mates = map_.ranks_of(node_);
  std::erase(mates, self_);
  return mates;
}

WordExchange NodeAgreement::messages(int step) const {
  switch (step) {
    case 0:
      return lengths();
    case 1:
      return lists();
    case 2:
      return descriptions();
    default:
      return decisions();
  }
}

void NodeAgreement::take(int step, const std::vector<WordMessage>& received) {
  switch (step) {
    case 0:
      for (const WordMessage& message : received) list_words_[message.peer] = message.words.front();
      return;
    case 1:
      return take_lists(received);
    case 2:
      return take_descriptions(received);
    default:
      return take_decisions(received);
  }
}

/// The number of outgoing edges, then these, then the incoming ones.
std::size_t NodeAgreement::list_words(Rank carrier) const {
  const auto found = own_.find(carrier);
  if (found == own_.end()) return 0;
  std::size_t edges = 0;
  for (const auto& [node, list] : found->second.to) edges += list.size();
  for (const auto& [node, list] : found->second.from) edges += list.size();
  return 1 + edges * kEdgeWords;
}

WordExchange NodeAgreement::lengths() const {
  WordExchange exchange;
  for (const Rank mate : mates()) {
    exchange.sends.push_back({mate, 0, {list_words(mate)}});
    exchange.receives.push_back({mate, 0, Words(1)});
  }
  return exchange;
}

WordExchange NodeAgreement::lists() const {
  WordExchange exchange;
  for (const auto& [carrier, list] : own_) {
    if (carrier == self_) continue;
    std::uint64_t outgoing = 0;
    for (const auto& [node, edges] : list.to) outgoing += edges.size();
    Words words{outgoing};
    for (const auto& [node, edges] : list.to)
      for (const NodeEdge& edge : edges) add_edge(words, edge.destination, edge);
    for (const auto& [node, edges] : list.from)
      for (const NodeEdge& edge : edges) add_edge(words, edge.source, edge);
    exchange.sends.push_back({carrier, 0, std::move(words)});
  }
  for (const auto& [mate, words] : list_words_)
    if (words > 0) exchange.receives.push_back({mate, 0, Words(words)});
  return exchange;
}

void NodeAgreement::take_lists(const std::vector<WordMessage>& received) {
  for (const WordMessage& message : received) {
    List list;
    std::span<const std::uint64_t> words = std::span(message.words).subspan(1);
    for (std::uint64_t i = 0; !words.empty(); ++i, words = words.subspan(kEdgeWords)) {
      NodeEdge edge = edge_from(words);
      const auto peer = static_cast<Rank>(words[0]);
      const bool sent = i < message.words[0];
      edge.source = sent ? message.peer : peer;
      edge.destination = sent ? peer : message.peer;
      (sent ? list.to : list.from)[map_.node_of(peer)].push_back(edge);
    }
    taken_[message.peer] = std::move(list);
  }
  if (const auto own = own_.find(self_); own != own_.end()) carry(own->second);
  for (const auto& [mate, list] : taken_) carry(list);
  for (auto& [node, carried] : sends_) sort(carried.pair);
  for (auto& [node, carried] : receives_) sort(carried.pair);
}

void NodeAgreement::carry(const List& list) {
  const auto add = [](NodePair& pair, int from, int to, const std::vector<NodeEdge>& edges) {
    pair.from = from;
    pair.to = to;
    pair.edges.insert(pair.edges.end(), edges.begin(), edges.end());
  };
  for (const auto& [node, edges] : list.to) add(sends_[node].pair, node_, node, edges);
  for (const auto& [node, edges] : list.from) add(receives_[node].pair, node, node_, edges);
}

WordExchange NodeAgreement::descriptions() const {
  WordExchange exchange;
  for (const auto& [node, carried] : sends_) {
    const Rank peer = receiving_carrier(map_, node_, node);
    exchange.sends.push_back({peer, kSentSlot, sender_description_of(carried.pair, network_)});
    exchange.receives.push_back({peer, kReceivedSlot, room_for_description(carried.pair)});
  }
  for (const auto& [node, carried] : receives_) {
    const Rank peer = sending_carrier(map_, node, node_);
    exchange.sends.push_back({peer, kReceivedSlot, description_of(carried.pair)});
    exchange.receives.push_back({peer, kSentSlot, room_for_sender_description(carried.pair)});
  }
  return exchange;
}

// They stand in the order of descriptions().
void NodeAgreement::take_descriptions(const std::vector<WordMessage>& received) {
  auto message = received.begin();
  for (auto& [node, carried] : sends_) {
    carried.by_node = describes(message->words, carried.pair) && decide_(carried.pair, network_);
    ++message;
  }
  for (auto& [node, carried] : receives_) {
    NodePair& pair = carried.pair;
    const std::size_t edges = pair.edges.size();
    const std::span<const std::uint64_t> values = std::span(message->words).subspan(1 + edges, edges);
    for (std::size_t i = 0; i < values.size(); ++i) pair.edges[i].value = static_cast<std::uint32_t>(values[i]);
    carried.by_node = describes(message->words, pair) && decide_(pair, message->words.back());
    ++message;
  }
}

WordExchange NodeAgreement::decisions() const {
  WordExchange exchange;
  for (const auto& [mate, list] : taken_) {
    Words words;
    for (const auto& [node, edges] : list.to) words.push_back(sends_.at(node).by_node ? 1 : 0);
    for (const auto& [node, edges] : list.from) words.push_back(receives_.at(node).by_node ? 1 : 0);
    exchange.sends.push_back({mate, 0, std::move(words)});
  }
  for (const auto& [carrier, list] : own_)
    if (carrier != self_) exchange.receives.push_back({carrier, 0, Words(list.nodes())});
  return exchange;
}

void NodeAgreement::take_decisions(const std::vector<WordMessage>& received) {
  const auto take_list = [&](const List& list, auto&& next) {
    for (const auto& [node, edges] : list.to)
      if (next(sends_, node)) routes_.to.insert(node);
    for (const auto& [node, edges] : list.from)
      if (next(receives_, node)) routes_.from.insert(node);
  };
  for (const WordMessage& message : received) {
    auto word = message.words.begin();
    take_list(own_.at(message.peer), [&](const auto&, int) { return *word++ != 0; });
  }
  if (const auto own = own_.find(self_); own != own_.end())
    take_list(own->second, [](const auto& carried, int node) { return carried.at(node).by_node; });
}

NodeRoutes NodeAgreement::routes() const {
  NodeRoutes routes = routes_;
  for (const auto& [node, carried] : sends_)
    if (carried.by_node) routes.sends.push_back(carried.pair);
  for (const auto& [node, carried] : receives_)
    if (carried.by_node) routes.receives.push_back(carried.pair);
  return routes;
}

}  // namespace fab::collectives
