// A communicator of all ranks for one thread.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <exception>

#include "apps/mpi_call.h"

namespace bench {

/// A duplicate of MPI_COMM_WORLD. Collective over all ranks, both ends of its life.
class OwnComm {
 public:
  OwnComm() { apps::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup"); }
  // An exception on its way ends the job.
  ~OwnComm() {
    if (std::uncaught_exceptions() > 0) return;
    if (MPI_Comm_free(&comm_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Comm_free failed\n");
  }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;

  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace bench
