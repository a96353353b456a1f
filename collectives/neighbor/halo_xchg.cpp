#include "collectives/neighbor/halo_xchg.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "collectives/calls/buffers.h"
#include "collectives/neighbor/partitioned_edges.h"
#include "collectives/neighbor/persistent_edges.h"

namespace fab::collectives {

namespace {

constexpr const char* kHaloName = "halo_xchg";
constexpr const char* kPartitionedHaloName = "partitioned_halo_xchg";

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

/// Cells of a box that belong to a part.
Box overlap(Box box, const Box& part, std::size_t dimension) {
  const std::size_t begin = std::max(box.start[dimension], part.start[dimension]);
  const std::size_t end = std::min(box.start[dimension] + box.size[dimension],  //
                                   part.start[dimension] + part.size[dimension]);
  box.start[dimension] = begin;
  box.size[dimension] = end > begin ? end - begin : 0;
  return box;
}

/// The boundary on one side, or the halo there, divided as the boundary is. Beyond the first and the last part it is
/// one group.
class DividedSide {
 public:
  DividedSide(const HaloGeometry& geometry, const HaloParts& parts, const Direction& side, std::size_t most_groups)
      : geometry_(geometry), parts_(parts), beyond_(side[parts.dimension] != 0) {
    most_groups_ = beyond_ ? 1 : most_groups;
    for (std::size_t part = 0; part < parts.count; ++part)
      bytes_.push_back(geometry.layout(overlap(geometry.boundary(side), slab(part), parts.dimension)).size());
  }

  [[nodiscard]] DividedBlock divide(BufferId buffer, const Box& box) const {
    return collectives::divide(bytes_, most_groups_, [&](std::size_t first, std::size_t count) -> Block {
      if (beyond_) return {buffer, 0, geometry_.layout(box)};
      Box slabs = slab(first);
      const Box last = slab(first + count - 1);
      slabs.size[parts_.dimension] =
          last.start[parts_.dimension] + last.size[parts_.dimension] - slabs.start[parts_.dimension];
      return {buffer, 0, geometry_.layout(overlap(box, slabs, parts_.dimension))};
    });
  }

 private:
  [[nodiscard]] Box slab(std::size_t part) const { return geometry_.part(parts_, part); }

  const HaloGeometry& geometry_;
  const HaloParts& parts_;
  bool beyond_;
  std::size_t most_groups_;
  std::vector<std::size_t> bytes_;  ///< by part
};

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

core::Persistent make_halo_xchg(const std::shared_ptr<core::Communicator>& communicator, std::byte* field,
                                const HaloGeometry& geometry, const HaloParts& parts) {
  const auto& grid = std::get<Cartesian>(*communicator->topology());
  const std::vector<std::optional<Edge>> sources = halo_sources(grid, communicator->rank(), geometry);
  // So that the slots of all sides are enough.
  constexpr std::size_t kSlots = 1u << core::TagFormat::kSlotBits;
  DividedEdges divided{.most_groups =
                           std::clamp<std::size_t>(kSlots / std::max<std::size_t>(sources.size(), 1), 1, kMostGroups)};
  Neighborhood edges;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i]) continue;
    const Direction& direction = geometry.directions()[i];
    const DividedSide side(geometry, parts, direction, divided.most_groups);
    edges.destinations.push_back({sources[i]->peer, static_cast<std::uint32_t>(i)});
    divided.outgoing.push_back(side.divide(BufferId::send, geometry.boundary(direction)));
    edges.sources.push_back(*sources[i]);
    divided.incoming.push_back(side.divide(BufferId::recv, geometry.halo(direction)));
  }
  return make_partitioned(communicator, buffers(field, field), edges, divided, kPartitionedHaloName, nullptr);
}

}  // namespace fab::collectives
