#include "support/edges.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <stdexcept>

namespace bench {

Edges pair_edges(int rank) { return {.destinations = {rank ^ 1}, .sources = {rank ^ 1}}; }

Edges grid_edges(int rank, const std::vector<int>& dims, bool open) {
  Edges edges;
  int stride = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>());
  for (const int extent : dims) {
    stride /= extent;
    const int place = rank / stride % extent;
    for (const int step : {1, -1}) {
      const int next = place + step;
      if (extent == 1 || (open && (next < 0 || next >= extent))) continue;
      edges.destinations.push_back(rank + ((next + extent) % extent - place) * stride);
    }
  }
  edges.sources = edges.destinations;
  return edges;
}

Edges random_edges(int rank, int ranks, int degree, unsigned seed) {
  Edges edges;
  std::mt19937 random(seed);
  std::vector<int> ring(static_cast<std::size_t>(ranks));
  std::iota(ring.begin(), ring.end(), 0);
  for (int i = 0; i < degree; ++i) {
    std::ranges::shuffle(ring, random);
    const auto place = static_cast<std::size_t>(std::ranges::find(ring, rank) - ring.begin());
    edges.destinations.push_back(ring[(place + 1) % ring.size()]);
    edges.sources.push_back(ring[(place + ring.size() - 1) % ring.size()]);
  }
  return edges;
}

int sent_block(const Edges& of_sender, const Edges& of_receiver, int receiver, int block) {
  const auto end = of_receiver.sources.begin() + block;
  auto before = std::count(of_receiver.sources.begin(), end, *end);
  for (std::size_t i = 0; i < of_sender.destinations.size(); ++i) {
    if (of_sender.destinations[i] == receiver && before-- == 0) return static_cast<int>(i);
  }
  throw std::logic_error("an edge is not listed at both of its ends");
}

}  // namespace bench
