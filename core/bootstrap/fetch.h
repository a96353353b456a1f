// Helpers that all stores share.
#pragma once

#include <fmt/core.h>

#include "fab/error.h"
#include "fab/topology.h"

namespace fab {

/// The reason that the fetches which are open at a store's end are given.
inline constexpr const char* kStoreClosed = "the store was closed";

/// Throws Error(invalid_rank) unless `rank` is one of the job's `size` ranks.
inline void check_fetched_rank(Rank rank, int size) {
  if (rank >= 0 && rank < size) return;
  throw Error(Errc::invalid_rank, fmt::format("Store::fetch: rank {} is not one of 0 to {}", rank, size - 1));
}

}  // namespace fab
