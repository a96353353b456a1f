// Halo exchange on a Cartesian grid of ranks: each block's boundary cells into its neighbours' halos. Rank counts: any.
// The message that leaves over side i carries slot i, so all that two ranks may exchange stay apart.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "fab/halo_geometry.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// For each direction of the block: the rank there, with the slot of the message that brings the halo from it; none
/// beyond a border that is not periodic. The grid has as many dimensions as the block.
[[nodiscard]] std::vector<std::optional<Edge>> halo_sources(const Cartesian& grid, Rank self,
                                                            const HaloGeometry& geometry);

/// The schedule of one rank, one round, from its padded block (as the send buffer) to the same (as the receive buffer).
/// Edges to oneself become copies.
[[nodiscard]] Schedule build_halo_xchg(const Cartesian& grid, Rank self, const HaloGeometry& geometry,
                                       const CommitOptions& options);

/// Makes it on a Cartesian communicator for the padded block at `field`: directly, or by nodes where FAB_ALGO_NEIGHBOR
/// says so, which waits for other ranks (persistent_edges.h). Its sources are those of halo_sources, as the messages
/// that bring them.
[[nodiscard]] core::Persistent make_halo_xchg(const std::shared_ptr<core::Communicator>& communicator, std::byte* field,
                                              const HaloGeometry& geometry);

/// Makes the exchange in parts: the cells next to a side belong to the parts in which they lie, and so do the halo
/// cells there; where a side lies beyond the first or the last part, its halo belongs to the parts whose cells go
/// there. Waits for the neighbours, with which it compares sizes (partitioned_edges.h).
[[nodiscard]] core::Persistent make_halo_xchg(const std::shared_ptr<core::Communicator>& communicator, std::byte* field,
                                              const HaloGeometry& geometry, const HaloParts& parts);

}  // namespace fab::collectives
