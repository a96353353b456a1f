#include "realspace/partition.h"

#include <fmt/core.h>
#include <metis.h>

#include <array>
#include <stdexcept>

namespace realspace {
namespace {

// Compressed rows, as METIS wants a graph.
struct MetisGraph {
  std::vector<idx_t> row_start;
  std::vector<idx_t> adjacent;
};

MetisGraph nearest_neighbor_graph(const Grid& grid) {
  MetisGraph graph;
  graph.row_start.push_back(0);
  for (std::int32_t point = 0; point < static_cast<std::int32_t>(grid.size()); ++point) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (int offset : {-1, +1}) {
        const std::int32_t other = grid.neighbor(point, axis, offset);
        if (other != Grid::kNoPoint) graph.adjacent.push_back(other);
      }
    }
    graph.row_start.push_back(static_cast<idx_t>(graph.adjacent.size()));
  }
  return graph;
}

}  // namespace

std::vector<int> partition_points(const Grid& grid, int parts) {
  std::vector<idx_t> part(grid.size(), 0);
  if (parts == 1) return part;  // METIS divides by log2(parts)

  MetisGraph graph = nearest_neighbor_graph(grid);
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  auto points = static_cast<idx_t>(grid.size());
  idx_t constraints = 1;
  idx_t part_count = parts;
  idx_t cut_edges = 0;
  const int rc =
      METIS_PartGraphKway(&points, &constraints, graph.row_start.data(), graph.adjacent.data(), nullptr, nullptr,
                          nullptr, &part_count, nullptr, nullptr, options.data(), &cut_edges, part.data());
  if (rc != METIS_OK) {
    throw std::runtime_error(fmt::format("METIS_PartGraphKway({} points, {} parts) returned {}", points, parts, rc));
  }
  return part;
}

std::vector<std::vector<int>> part_neighbors(const Grid& grid, const std::vector<int>& part_of_point, int parts) {
  const auto count = static_cast<std::size_t>(parts);
  std::vector<bool> touches(count * count, false);
  for (std::int32_t point = 0; point < static_cast<std::int32_t>(grid.size()); ++point) {
    const auto own = static_cast<std::size_t>(part_of_point[static_cast<std::size_t>(point)]);
    for_each_stencil_neighbor(grid, point, [&](std::int32_t other) {
      if (other == Grid::kNoPoint) return;
      touches[own * count + static_cast<std::size_t>(part_of_point[static_cast<std::size_t>(other)])] = true;
    });
  }
  std::vector<std::vector<int>> neighbors(count);
  for (std::size_t own = 0; own < count; ++own) {
    for (std::size_t other = 0; other < count; ++other) {
      if (own != other && touches[own * count + other]) neighbors[own].push_back(static_cast<int>(other));
    }
  }
  return neighbors;
}

}  // namespace realspace
