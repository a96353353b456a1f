// Topologies for tests: with self-loops, several edges between the same two ranks, and ranks without any.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "fab/topology.h"

namespace fab::test {

inline Graph random_graph(int ranks, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> lists(static_cast<std::size_t>(ranks));
  for (int edge = 0; edge < 2 * ranks + 1; ++edge) {
    const std::size_t a = random() % lists.size();
    const std::size_t b = random() % lists.size();
    for (unsigned copies = 1 + (random() % 4 == 0 ? 2u : 0u); copies > 0; --copies) {
      lists[a].push_back(static_cast<int>(b));
      if (a != b) lists[b].push_back(static_cast<int>(a));
    }
  }
  std::vector<int> index;
  std::vector<int> edges;
  for (std::vector<int>& list : lists) {
    std::shuffle(list.begin(), list.end(), random);
    edges.insert(edges.end(), list.begin(), list.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  return {index, edges};
}

/// The part of each rank.
inline std::vector<DistributedGraph> random_distributed_graph(int ranks, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> sources(static_cast<std::size_t>(ranks));
  std::vector<std::vector<int>> destinations(static_cast<std::size_t>(ranks));
  for (int edge = 0; edge < 3 * ranks; ++edge) {
    const std::size_t from = random() % sources.size();
    const std::size_t to = random() % sources.size();
    destinations[from].push_back(static_cast<int>(to));
    sources[to].push_back(static_cast<int>(from));
  }
  std::vector<DistributedGraph> parts;
  for (std::size_t rank = 0; rank < sources.size(); ++rank) {
    std::shuffle(sources[rank].begin(), sources[rank].end(), random);
    std::shuffle(destinations[rank].begin(), destinations[rank].end(), random);
    parts.emplace_back(sources[rank], destinations[rank]);
  }
  return parts;
}

/// A grid of exactly so many ranks with one, two or three dimensions.
inline std::vector<int> grid_dims(int ranks, int dimensions) {
  std::vector<int> dims;
  for (; dimensions > 1; --dimensions) {
    int divisor = 2;
    while (divisor < ranks && ranks % divisor != 0) ++divisor;
    dims.push_back(ranks == 1 ? 1 : divisor);
    ranks /= dims.back();
  }
  dims.push_back(ranks);
  return dims;
}

}  // namespace fab::test
