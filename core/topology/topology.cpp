// The parts of a topology that do not depend on its kind: a rank's neighbours, and a text for messages.
#include "fab/topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fab {
namespace {

Neighborhood edges_of(const Cartesian& cartesian, Rank rank) { return cartesian.neighborhood(rank); }
Neighborhood edges_of(const Graph& graph, Rank rank) { return graph.neighborhood(rank); }
Neighborhood edges_of(const DistributedGraph& graph, Rank) { return graph.neighborhood(); }

std::string describe(const Cartesian& cartesian) {
  if (cartesian.dimensions() == 0) return "cartesian without dimensions";
  std::vector<int> periodic;
  for (int dimension = 0; dimension < cartesian.dimensions(); ++dimension) {
    periodic.push_back(cartesian.periodic(Dimension{dimension}) ? 1 : 0);
  }
  return fmt::format("cartesian {} periodic {}", fmt::join(cartesian.dims(), "x"), fmt::join(periodic, ","));
}

std::string describe(const Graph& graph) { return fmt::format("graph of {} ranks", graph.size()); }

std::string describe(const DistributedGraph& graph) {
  return fmt::format("distributed graph, {} in, {} out", graph.sources().size(), graph.destinations().size());
}

}  // namespace

Neighborhood neighborhood(const Topology& topology, Rank rank) {
  return std::visit([rank](const auto& kind) { return edges_of(kind, rank); }, topology);
}

std::string to_string(const Topology& topology) {
  return std::visit([](const auto& kind) { return describe(kind); }, topology);
}

}  // namespace fab
