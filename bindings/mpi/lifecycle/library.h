// Which MPI library this binding was built for, and which one the process has.
#pragma once

namespace fab::mpi {

/// Throws Failure(MPI_ERR_OTHER) where they differ: a program that was built for another MPI, or reaches another one's
/// functions first.
void compare_libraries();

}  // namespace fab::mpi
