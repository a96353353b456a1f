// Graph: a graph that every rank knows, whose edges go both ways.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/topology/edges.h"
#include "fab/error.h"

namespace fab {
namespace {

using Pairs = std::vector<std::pair<Rank, Rank>>;

[[noreturn]] void fail(const std::string& what) { throw Error(Errc::invalid_topology, "Graph: " + what); }

void check_index(std::span<const int> index, std::size_t edges) {
  int previous = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < previous) {
      fail(fmt::format("index[{}] is {}; it must not be below {}, the neighbours of the ranks before it", i, index[i],
                       previous));
    }
    previous = index[i];
  }
  if (edges != static_cast<std::size_t>(previous)) {
    fail(fmt::format("edges has {} entries; the index asks for {}", edges, previous));
  }
}

void check_edges(std::span<const int> edges, std::size_t ranks) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] >= 0 && static_cast<std::size_t>(edges[i]) < ranks) continue;
    fail(fmt::format("edges[{}] is {}; valid are the ranks from 0 below {}", i, edges[i], ranks));
  }
}

/// Every edge as (from, to), sorted.
Pairs sorted_pairs(std::span<const int> index, std::span<const int> edges) {
  Pairs pairs;
  pairs.reserve(edges.size());
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < index.size(); ++rank) {
    for (; next < static_cast<std::size_t>(index[rank]); ++next)
      pairs.emplace_back(static_cast<Rank>(rank), edges[next]);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::ptrdiff_t times(const Pairs& pairs, Rank from, Rank to) {
  const auto [first, last] = std::equal_range(pairs.begin(), pairs.end(), std::pair{from, to});
  return last - first;
}

/// Every edge must stand in the lists of both its ends, equally often: the k-th entries pair.
void check_symmetry(const Pairs& pairs) {
  for (const auto& [from, to] : pairs) {
    const auto there = times(pairs, from, to);
    const auto back = times(pairs, to, from);
    if (there == back) continue;
    fail(
        fmt::format("rank {} lists rank {} {} time(s), but rank {} lists rank {} {} time(s); both must list the other "
                    "equally often",
                    from, to, there, to, from, back));
  }
}

}  // namespace

Graph::Graph(std::vector<int> index, std::vector<int> edges) : index_(std::move(index)), edges_(std::move(edges)) {
  check_index(index_, edges_.size());
  check_edges(edges_, index_.size());
  check_symmetry(sorted_pairs(index_, edges_));
}

std::span<const int> Graph::neighbors(Rank rank) const {
  if (rank < 0 || rank >= size()) {
    throw Error(Errc::invalid_rank,
                fmt::format("Graph::neighbors: rank is {}; valid are the ranks from 0 below {}", rank, size()));
  }
  const auto i = static_cast<std::size_t>(rank);
  const auto begin = static_cast<std::size_t>(i == 0 ? 0 : index_[i - 1]);
  return std::span(edges_).subspan(begin, static_cast<std::size_t>(index_[i]) - begin);
}

Neighborhood Graph::neighborhood(Rank rank) const {
  const std::vector<Edge> edges = edges_by_appearance(neighbors(rank));
  return {.destinations = edges, .sources = edges};
}

}  // namespace fab
