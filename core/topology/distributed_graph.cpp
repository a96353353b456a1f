// DistributedGraph: a graph of which each rank knows its own edges only.
#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "core/topology/edges.h"
#include "fab/error.h"

namespace fab {
namespace {

void check_ranks(std::string_view list, std::span<const int> ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= 0) continue;
    throw Error(Errc::invalid_topology,
                fmt::format("DistributedGraph: {}[{}] is {}; a rank is at least 0", list, i, ranks[i]));
  }
}

}  // namespace

DistributedGraph::DistributedGraph(std::vector<int> sources, std::vector<int> destinations)
    : sources_(std::move(sources)), destinations_(std::move(destinations)) {
  check_ranks("sources", sources_);
  check_ranks("destinations", destinations_);
}

Neighborhood DistributedGraph::neighborhood() const {
  return {.destinations = edges_by_appearance(destinations_), .sources = edges_by_appearance(sources_)};
}

}  // namespace fab
