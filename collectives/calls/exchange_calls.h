// The calls that exchange blocks between all ranks, or combine them and leave each rank its part.
#pragma once

#include "collectives/calls/call.h"

namespace fab::collectives {

/// Blocks in a row, one for each of `ranks` ranks.
[[nodiscard]] CollectiveCall alltoall_call(const Layout& block, int ranks, bool in_place);
/// A block for each of `ranks` ranks; in place: the receive blocks. Throws Error(invalid_argument) for another number.
[[nodiscard]] CollectiveCall alltoallv_call(const BlockList& send, const BlockList& recv, int ranks);
[[nodiscard]] CollectiveCall alltoallv_call(const BlockList& blocks, int ranks);

/// counts[i] elements for rank i, of which this is `rank`; `counts` outlives the call. Throws Error(invalid_argument)
/// when there is not one for each of `ranks` ranks, Error(invalid_count) for negative ones, or when `element` holds no
/// whole number of the operation's.
[[nodiscard]] CollectiveCall reduce_scatter_call(const Layout& element, Integers counts, const Operator& operation,
                                                 Rank rank, int ranks, bool in_place);
/// Equal blocks. Throws the latter.
[[nodiscard]] CollectiveCall reduce_scatter_block_call(const Layout& block, const Operator& operation, int ranks,
                                                       bool in_place);

[[nodiscard]] CollectiveCall scan_call(const Layout& block, const Operator& operation, bool in_place);
[[nodiscard]] CollectiveCall exscan_call(const Layout& block, const Operator& operation, bool in_place);

}  // namespace fab::collectives
