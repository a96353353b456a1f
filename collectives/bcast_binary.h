// Broadcast along a binary tree. Rank counts: any. Relative rank i receives from (i - 1) / 2, then sends to 2i + 1 and
// 2i + 2; floor(log2 P) steps. Every rank has at most three peers, whatever the size of the job.
#pragma once

#include <cstddef>

#include "core/communicator.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// `bytes` bytes of the receive buffer go from `root` to all ranks.
[[nodiscard]] Schedule build_bcast_binary(Rank self, int ranks, Rank root, std::size_t bytes);

/// Starts the broadcast. Under the engine's lock.
core::Run& start_bcast(core::Communicator& communicator, void* buffer, std::size_t bytes, Rank root);

}  // namespace fab::collectives
