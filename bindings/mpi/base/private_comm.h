// A duplicate of MPI_COMM_SELF that returns errors and carries no messages: for questions to the MPI library.
#pragma once

#include <mpi.h>

namespace fab::mpi {

/// Valid between the two calls below.
[[nodiscard]] MPI_Comm private_comm() noexcept;

/// Once, when fab opens. Throws Failure.
void open_private_comm();
/// At MPI_Finalize.
void close_private_comm() noexcept;

}  // namespace fab::mpi
