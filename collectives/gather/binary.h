// Gather to rank 0 along a binary tree. Rank counts: any. Rank i receives from 2i + 1 and 2i + 2 what they have
// gathered, and sends it, its own part ahead, to (i - 1) / 2; floor(log2 P) steps. Every rank has at most three peers.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fab/schedule.h"

namespace fab::collectives {

/// The ranks whose parts `self` gathers, in the order in which they lie in its receive buffer; its own is the first.
[[nodiscard]] std::vector<Rank> gathered_ranks(Rank self, int ranks);

/// The own part is in the receive buffer when it starts. `bytes` tells the sizes of the gathered ranks' parts.
[[nodiscard]] Schedule build_gather_binary(Rank self, int ranks, const std::function<std::size_t(Rank)>& bytes);

}  // namespace fab::collectives
