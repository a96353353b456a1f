// Decides which rank of a communicator takes which place of a topology. Rank 0 decides, as only it needs to know the
// nodes of all ranks, and tells the others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/communicator/communicator.h"
#include "fab/mapping.h"

namespace fab {

/// ranks[place] for `places` places, which the first ranks of `parent` take. `map` maps them, given their nodes, and is
/// called on rank 0 only; the identity where the nodes are not known or it fails, which is logged. Collective.
[[nodiscard]] std::vector<Rank> agree_on_ranks(const std::shared_ptr<core::Communicator>& parent, int places,
                                               const std::function<Mapping(std::span<const int> nodes)>& map);

/// The edges of one place of a distributed graph.
struct PlaceEdges {
  std::vector<int> sources;
  std::vector<int> destinations;
  std::vector<std::int64_t> weights;  ///< of the destinations; empty: 1 each
};

/// What a rank of a reordered distributed graph is to know.
struct DistributedPlaces {
  std::vector<Rank> ranks;  ///< as above
  PlaceEdges edges;         ///< of the place that this rank takes
};

/// Each rank gives the edges of the place with its number. Collective.
[[nodiscard]] DistributedPlaces agree_on_ranks(const std::shared_ptr<core::Communicator>& parent,
                                               const PlaceEdges& edges);

}  // namespace fab
