#include "core/topology/node_map.h"

#include <algorithm>
#include <unordered_map>

namespace fab::core {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

NodeMap NodeMap::regular(int ranks, int per_node) {
  NodeMap map;
  map.ranks_ = ranks;
  map.largest_ = std::min(per_node, ranks);
  map.nodes_ = (ranks - 1) / map.largest_ + 1;
  map.smallest_ = ranks - (map.nodes_ - 1) * map.largest_;
  return map;
}

NodeMap NodeMap::of(std::span<const int> node_of_rank) {
  NodeMap map;
  map.ranks_ = static_cast<int>(node_of_rank.size());
  std::unordered_map<int, int> numbers;
  bool consecutive = true;
  for (Rank rank = 0; rank < map.ranks_; ++rank) {
    const bool as_before = rank > 0 && node_of_rank[at(rank)] == node_of_rank[at(rank - 1)];  // mostly
    const int node =
        as_before ? map.node_of_.back() : numbers.try_emplace(node_of_rank[at(rank)], map.nodes_).first->second;
    if (node == map.nodes_) {
      ++map.nodes_;
      map.lowest_.push_back(rank);
      map.sizes_.push_back(0);
    }
    consecutive = consecutive && node == map.nodes_ - 1;
    map.node_of_.push_back(node);
    ++map.sizes_[at(node)];
  }
  const auto [least, most] = std::minmax_element(map.sizes_.begin(), map.sizes_.end());
  map.smallest_ = *least;
  map.largest_ = *most;
  if (!consecutive) return map;
  map.node_of_ = {};
  const auto full = [&](int size) { return size == map.largest_; };
  const bool even = std::all_of(map.sizes_.begin(), map.sizes_.end() - 1, full);
  map.sizes_ = {};
  return even ? regular(map.ranks_, map.largest_) : map;
}

int NodeMap::node_of(Rank rank) const {
  if (is_regular()) return rank / largest_;
  if (!consecutive()) return node_of_[at(rank)];
  return static_cast<int>(std::upper_bound(lowest_.begin(), lowest_.end(), rank) - lowest_.begin()) - 1;
}

int NodeMap::index_of(Rank rank) const {
  if (is_regular()) return rank % largest_;
  const int node = node_of(rank);
  if (consecutive()) return rank - lowest_[at(node)];
  return static_cast<int>(std::count(node_of_.begin(), node_of_.begin() + rank, node));
}

int NodeMap::size_of(int node) const {
  if (!sizes_.empty()) return sizes_[at(node)];
  return (node + 1 < nodes_ ? lowest(node + 1) : ranks_) - lowest(node);
}

Rank NodeMap::lowest(int node) const { return is_regular() ? node * largest_ : lowest_[at(node)]; }

Rank NodeMap::rank_of(int node, int index) const {
  if (consecutive()) return lowest(node) + index;
  auto place = node_of_.begin() + lowest(node);
  for (int i = 0; i < index; ++i) place = std::find(place + 1, node_of_.end(), node);
  return static_cast<Rank>(place - node_of_.begin());
}

std::vector<Rank> NodeMap::ranks_of(int node) const {
  std::vector<Rank> result;
  result.reserve(at(size_of(node)));
  for (Rank rank = lowest(node); static_cast<int>(result.size()) < size_of(node); ++rank)
    if (node_of(rank) == node) result.push_back(rank);
  return result;
}

}  // namespace fab::core
