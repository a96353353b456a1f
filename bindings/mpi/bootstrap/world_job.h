// The description of the job that MPI has, for a fab that has no launcher to ask: ranks and their nodes.
#pragma once

#include <mpi.h>

#include <vector>

#include "core/bootstrap/store.h"

namespace fab::mpi {

/// Which ranks share a node, in a form that does not grow with the job.
struct NodeOrder {
  enum class Kind {
    blocks,  ///< rank / per_node
    cyclic,  ///< rank % nodes
    other
  };
  Kind kind = Kind::other;
  int per_node = 1;
  int nodes = 1;

  /// The node of each of `size` ranks; empty for the other orders.
  [[nodiscard]] std::vector<int> list(int size) const;
};

struct WorldJob {
  JobInfo job;
  NodeOrder order;
};

/// Collective over `world`, a duplicate of MPI_COMM_WORLD that returns errors. Throws Failure.
[[nodiscard]] WorldJob read_world_job(MPI_Comm world);

}  // namespace fab::mpi
