// Shift along a dimension of a Cartesian grid, with the transfer (Topological Collectives for MPI-2, 2.3).
#pragma once

#include "collectives/calls/block_list.h"
#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "fab/schedule.h"

namespace fab::collectives {

struct CartShiftXchg {
  BlockView send;  ///< ignored when in place
  BlockView recv;
  int dimension = 0;
  int displacement = 0;   ///< any integer
  bool in_place = false;  ///< the receive block is sent and replaced
};

/// The schedule of one rank: at most one message each way. A shift onto oneself is a copy; without a source the receive
/// block stays as it is, without a destination nothing is sent. Throws Error(invalid_argument) for a bad dimension.
[[nodiscard]] Schedule build_cart_shift_xchg(const Cartesian& grid, Rank self, const CartShiftXchg& call,
                                             const CommitOptions& options);

/// Makes a persistent shift, which throws when it is made what the start throws.
[[nodiscard]] core::Persistent make_cart_shift_xchg(std::shared_ptr<core::Communicator> communicator, const void* send,
                                                    void* recv, const CartShiftXchg& call);

/// Starts the shift. Under the engine's lock. Throws Error(invalid_topology) on a communicator that is not Cartesian.
core::Run& start_cart_shift_xchg(core::Communicator& communicator, const void* send, void* recv,
                                 const CartShiftXchg& call) FAB_REQUIRES(core::engine_lock);

}  // namespace fab::collectives
