#include "collectives/neighbor/halo_xchg.h"

#include <utility>
#include <variant>

#include "collectives/buffers.h"
#include "collectives/neighbor/persistent_edges.h"

namespace fab::collectives {

namespace {

constexpr const char* kHaloName = "halo_xchg";

std::optional<Rank> neighbor(const Cartesian& grid, std::vector<int> coordinates, const Direction& side) {
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    coordinates[d] += side[d];
    const bool inside = coordinates[d] >= 0 && coordinates[d] < grid.dims()[d];
    if (!inside && !grid.periodic(static_cast<Dimension>(d))) return std::nullopt;
  }
  return grid.rank_at(coordinates);
}

struct HaloEdges {
  Neighborhood edges;
  EdgeBlocks blocks;
};

/// Those of the sides that have a neighbour, in the order of directions.
HaloEdges halo_edges(const Cartesian& grid, Rank self, const HaloGeometry& geometry) {
  HaloEdges result{{}, {.builder = {kHaloName, grid.size()}}};
  auto& [edges, blocks] = result;
  const std::vector<std::optional<Edge>> sources = halo_sources(grid, self, geometry);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i]) continue;
    const Direction& side = geometry.directions()[i];
    edges.destinations.push_back({sources[i]->peer, static_cast<std::uint32_t>(i)});
    blocks.outgoing.push_back({BufferId::send, 0, geometry.layout(geometry.boundary(side))});
    edges.sources.push_back(*sources[i]);
    blocks.incoming.push_back({BufferId::recv, 0, geometry.layout(geometry.halo(side))});
  }
  return result;
}

}  // namespace

std::vector<std::optional<Edge>> halo_sources(const Cartesian& grid, Rank self, const HaloGeometry& geometry) {
  std::vector<std::optional<Edge>> sources;
  for (const Direction& side : geometry.directions()) {
    const std::optional<Rank> peer = neighbor(grid, grid.coordinates(self), side);
    const auto slot = static_cast<std::uint32_t>(geometry.index_of(side.opposite()));
    sources.push_back(peer ? std::optional<Edge>({*peer, slot}) : std::nullopt);
  }
  return sources;
}

Schedule build_halo_xchg(const Cartesian& grid, Rank self, const HaloGeometry& geometry, const CommitOptions& options) {
  auto [edges, blocks] = halo_edges(grid, self, geometry);
  exchange_along(edges, self, blocks.builder, blocks.outgoing, blocks.incoming, kHaloName);
  return blocks.builder.commit(options);
}

core::Persistent make_halo_xchg(const std::shared_ptr<core::Communicator>& communicator, std::byte* field,
                                const HaloGeometry& geometry) {
  const auto& grid = std::get<Cartesian>(*communicator->topology());
  auto [edges, blocks] = halo_edges(grid, communicator->rank(), geometry);
  return make_persistent(communicator, buffers(field, field), edges, std::move(blocks), kHaloName,
                         {.single_blocks = true});
}

}  // namespace fab::collectives
