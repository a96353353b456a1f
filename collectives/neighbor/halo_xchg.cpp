#include "collectives/neighbor/halo_xchg.h"

#include <variant>

#include "collectives/buffers.h"

namespace fab::collectives {

namespace {

std::optional<Rank> neighbor(const Cartesian& grid, std::vector<int> coordinates, const Direction& side) {
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    coordinates[d] += side[d];
    const bool inside = coordinates[d] >= 0 && coordinates[d] < grid.dims()[d];
    if (!inside && !grid.periodic(static_cast<Dimension>(d))) return std::nullopt;
  }
  return grid.rank_at(coordinates);
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
  ScheduleBuilder builder("halo_xchg", grid.size());
  const std::vector<std::optional<Edge>> sources = halo_sources(grid, self, geometry);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i]) continue;
    const Direction& side = geometry.directions()[i];
    const Block boundary{BufferId::send, 0, geometry.layout(geometry.boundary(side))};
    const auto halo = [&](const Direction& of) { return Block{BufferId::recv, 0, geometry.layout(geometry.halo(of))}; };
    if (sources[i]->peer == self) {
      builder.copy(boundary, halo(side.opposite()));
      continue;
    }
    builder.recv(sources[i]->peer, sources[i]->slot, halo(side));
    builder.send(sources[i]->peer, static_cast<std::uint32_t>(i), boundary);
  }
  return builder.commit(options);
}

core::Persistent make_halo_xchg(const std::shared_ptr<core::Communicator>& communicator, std::byte* field,
                                const HaloGeometry& geometry) {
  const auto& grid = std::get<Cartesian>(*communicator->topology());
  return {communicator, build_halo_xchg(grid, communicator->rank(), geometry, communicator->commit_options()),
          buffers(field, field)};
}

}  // namespace fab::collectives
