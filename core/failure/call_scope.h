// A communicator as seen by the handling of failures.
#pragma once

#include <cstdint>
#include <optional>

#include "core/wire/match_tag.h"
#include "fab/topology.h"

namespace fab::core {

/// Guarded by the engine's lock.
struct CallScope {
  std::optional<ContextId> id{};  ///< once it is known
  /// By whose fault this rank has given up a call here, and started none since that ended well (Losses).
  Rank given_up_for = kNoRank;
  std::uint64_t given_up_at = 0;  ///< Pending::number of the youngest that was active then
};

}  // namespace fab::core
