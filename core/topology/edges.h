// Pairs edges by their order of appearance.
#pragma once

#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab {

/// One edge per entry of `peers`; its slot is the number of earlier entries that name the same peer.
[[nodiscard]] std::vector<Edge> edges_by_appearance(std::span<const int> peers);

}  // namespace fab
