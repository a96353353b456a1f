// What the launcher says of this process in its environment, for tests of what fab says: Open MPI's mpirun, and Slurm's
// srun. -1: it does not say.
#pragma once

namespace fab::test {

[[nodiscard]] int launched_rank();
[[nodiscard]] int launched_ranks();
/// On this node.
[[nodiscard]] int launched_ranks_here();

}  // namespace fab::test
