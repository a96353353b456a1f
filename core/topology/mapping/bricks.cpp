// Regions of a grid for nodes. Candidates are cut out of the grid in several ways, the lightest cut is refined:
// - bricks: the grid is divided into columns along one dimension, which are filled one after another, layer by layer.
//   Where extents and ranks per node allow it, nodes become bricks (W. Gropp, Using node and socket information to
//   implement MPI Cartesian topologies, Parallel Computing 85, 2019; Efficient process-to-node mapping algorithms for
//   stencil computations, arXiv 2005.09521, 2020, there "stencil strips");
// - bisection: the grid and the nodes are halved again and again, where the cut is lightest;
// - Hilbert's curve, which nodes follow.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/topology/mapping/bisection.h"
#include "core/topology/mapping/columns.h"
#include "core/topology/mapping/placement.h"
#include "fab/error.h"

namespace fab {
namespace {

using mapping::Nodes;
using mapping::Placement;

std::vector<double> positive_weights(const Cartesian& grid, std::span<const std::int64_t> weights) {
  std::vector<double> result(grid.dims().size(), 1);
  for (std::size_t d = 0; d < weights.size(); ++d) result[d] = std::max<double>(static_cast<double>(weights[d]), 1e-3);
  return result;
}

std::vector<int> places_in_order(const Mapping& curve) {
  std::vector<int> places(curve.ranks().size());
  for (std::size_t place = 0; place < places.size(); ++place)
    places[static_cast<std::size_t>(curve.ranks()[place])] = static_cast<int>(place);
  return places;
}

// Large grids are searched less: each candidate costs a look at every message, and to refine it costs much more.
std::size_t candidate_count(int places) { return static_cast<std::size_t>(std::clamp((1 << 22) / places, 4, 64)); }
std::size_t refined_count(int places) { return static_cast<std::size_t>(std::clamp((1 << 10) / places, 8, 64)); }

}  // namespace

Mapping Mapping::bricks(const Cartesian& grid, std::span<const int> nodes, std::span<const std::int64_t> weights) {
  if (nodes.size() != static_cast<std::size_t>(grid.size()))
    throw Error(Errc::invalid_argument,
                fmt::format("Mapping::bricks: nodes has {} entries and the grid {} places; they "
                            "must be equal",
                            nodes.size(), grid.size()));
  const Nodes numbered(nodes);
  const Traffic traffic = Traffic::of(grid, weights);
  if (numbered.sizes.size() == 1) return row_major(grid);
  const std::vector<double> costs = positive_weights(grid, weights);
  const int largest = *std::max_element(numbered.sizes.begin(), numbered.sizes.end());

  std::vector<std::pair<std::int64_t, Placement>> candidates;
  const auto add = [&](Placement placement) {
    const std::int64_t weight = mapping::cut_weight(traffic, placement);
    candidates.emplace_back(weight, std::move(placement));
  };
  add(numbered.of_rank);
  add(mapping::bisect(grid, costs, numbered));
  add(mapping::fill_in_order(places_in_order(hilbert(grid)), numbered));
  for (const mapping::Columns& columns : mapping::find_columns(grid, costs, largest, candidate_count(grid.size())))
    add(mapping::fill_in_order(mapping::order_by_columns(grid, columns), numbered));
  // Stable, and the identity comes first: what is not better does not replace it.
  const auto lighter = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(candidates.begin(), candidates.end(), lighter);
  candidates.resize(std::min(candidates.size(), refined_count(grid.size())));
  for (auto& [weight, placement] : candidates) {
    mapping::refine(traffic, numbered, placement);
    weight = mapping::cut_weight(traffic, placement);
  }
  return mapping::to_mapping(std::min_element(candidates.begin(), candidates.end(), lighter)->second, numbered);
}

}  // namespace fab
