#include "core/topology/edges.h"

#include <unordered_map>

namespace fab {

std::vector<Edge> edges_by_appearance(std::span<const int> peers) {
  std::unordered_map<Rank, std::uint32_t> seen;
  std::vector<Edge> edges;
  edges.reserve(peers.size());
  for (const Rank peer : peers) edges.push_back({peer, seen[peer]++});
  return edges;
}

}  // namespace fab
