// Selects the algorithm of a call.
#pragma once

#include "collectives/registry.h"
#include "core/base/config.h"

namespace fab::collectives {

/// Throws Error(configuration) when a FAB_ALGO_ variable names no algorithm, with those that exist.
void check_choices(const Config& config);

/// What FAB_ALGO_<COLLECTIVE> names, if it can do the call; otherwise what fits the call's bytes and ranks, and where
/// they are. All ranks choose the same. Throws as check_choices.
[[nodiscard]] const Algorithm& select(const CollectiveCall& call, const Config& config);

/// The same without such variables, for calls that are steps of another one.
[[nodiscard]] const Algorithm& select_by_rules(const CollectiveCall& call);

/// The longest segment within a node: what travels through the memory of a ring, without the kernel.
inline constexpr std::size_t kNodeSegmentBytes = 16 << 10;

/// How its pipelines are cut: finer within a node. Messages are not combined: the ends of an edge need not be in the
/// same round.
[[nodiscard]] CommitOptions commit_options(const Algorithm& algorithm, const CollectiveCall& call,
                                           const Config& config);

}  // namespace fab::collectives
