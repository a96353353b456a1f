// Broadcast along a binomial tree. Rank counts: any. Step k (k = 0, 1, ...): relative ranks below 2^k send to relative
// rank + 2^k; ceil(log2 P) steps.
#pragma once

#include <cstddef>

#include "core/communicator.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// `bytes` bytes of the receive buffer go from `root` to all ranks.
[[nodiscard]] Schedule build_bcast_binomial(Rank self, int ranks, Rank root, std::size_t bytes);

/// Starts the broadcast. Under the engine's lock.
core::Run& start_bcast(core::Communicator& communicator, void* buffer, std::size_t bytes, Rank root);

}  // namespace fab::collectives
