// Checks that the MPI library of the process is the one that this binding was built for.
#pragma once

namespace fab::mpi {

/// False where they differ, or MPI does not tell. Legal before MPI_Init, too.
[[nodiscard]] bool is_own_library() noexcept;

/// Throws Failure(MPI_ERR_OTHER) where they differ: a program that was built for another MPI, or reaches another one's
/// functions first.
void compare_libraries();

}  // namespace fab::mpi
