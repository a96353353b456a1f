// Starts collective calls.
#pragma once

#include <memory>

#include "collectives/calls/call.h"
#include "collectives/choice/registry.h"
#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"

namespace fab::collectives {

/// Starts a call; builds nothing when the same shape was started before. The caller fills in what the call is about;
/// rank, ranks and one_node are the communicator's. Under the engine's lock. Throws Error(invalid_rank) for a bad root,
/// Error(invalid_count) for blocks that do not hold whole elements, or differ in size.
core::Run& start(core::Communicator& communicator, const void* send, void* recv, const CollectiveCall& call)
    FAB_REQUIRES(core::engine_lock);

/// Makes a persistent one, which throws when it is made what the start throws.
[[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& communicator, const void* send,
                                    void* recv, const CollectiveCall& call);

/// A call with what the communicator knows of it: rank, ranks, where they are, and rules.
[[nodiscard]] CollectiveCall made_on(const core::Communicator& communicator, CollectiveCall call);

/// Which algorithm start() takes for a call of this collective, root, bytes and operation.
[[nodiscard]] const Algorithm& algorithm_for(const core::Communicator& communicator, const CollectiveCall& call);

/// The calls with one vector, `block` describing each rank's. Null for `send` buffers are in place.
[[nodiscard]] CollectiveCall barrier_call();
[[nodiscard]] CollectiveCall bcast_call(const Layout& block, Rank root);
/// `element_bytes` and the rest from the operation; in place with `in_place`.
[[nodiscard]] CollectiveCall reduce_call(const Layout& block, const Operator& operation, Rank root, bool in_place);
[[nodiscard]] CollectiveCall allreduce_call(const Layout& block, const Operator& operation, bool in_place);

}  // namespace fab::collectives
