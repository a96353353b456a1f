// Tells whether the ranks of the job share memory, or need a network, while fab is not open.
#pragma once

#include <optional>

#include "core/base/config.h"

namespace fab::mpi {

/// Whether all ranks of the job share memory, by FAB_LOCAL and by what Open MPI's launcher, MPICH's or Slurm's says:
/// the same on all ranks. Empty: fab knows once it is open.
[[nodiscard]] std::optional<bool> share_memory(bool local, const Environment& environment);

/// Of this process: asked once.
[[nodiscard]] std::optional<bool> ranks_share_memory() noexcept;

/// Whether ranks of this job will use a network; false where no launcher says how many ranks there are.
[[nodiscard]] bool need_network(bool local, const Environment& environment);

}  // namespace fab::mpi
