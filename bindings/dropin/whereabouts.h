// What can be told of where the ranks of the job are while fab is not open.
#pragma once

#include <optional>

#include "core/base/config.h"

namespace fab::dropin {

/// Whether all ranks of the job share memory, by FAB_LOCAL and by what Open MPI's launcher says: the same on all ranks.
/// Empty: fab knows once it is open.
[[nodiscard]] std::optional<bool> share_memory(bool local, const Environment& environment);

/// Of this process: asked once.
[[nodiscard]] std::optional<bool> ranks_share_memory() noexcept;

}  // namespace fab::dropin
