// Checks that the MPI library of the process is the one that this binding was built for.
#pragma once

namespace fab::mpi {

/// Throws Failure(MPI_ERR_OTHER) where they differ: a program that was built for another MPI, or reaches another one's
/// functions first.
void compare_libraries();

}  // namespace fab::mpi
