// Finds by measurement from which lengths on messages within a node take another way.
#pragma once

#include <optional>

#include "core/base/local_lengths.h"
#include "fab/communicator.h"

namespace fab::tools {

/// Times exchanges of rank 0 with the next rank of its node, in about so many seconds. A length is copied unless the
/// other way is faster by more than `within`. Collective; the result is rank 0's. None where rank 0 shares memory with
/// no other rank, or with FAB_LOCAL=off.
[[nodiscard]] std::optional<LocalLengths> measure_lengths(const Communicator& world, double seconds, double within);

}  // namespace fab::tools
