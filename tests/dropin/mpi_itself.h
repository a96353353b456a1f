// MPI's own functions, also where others stand before them.
#pragma once

#include <mpi.h>

#include <string>

namespace fab::test {

/// The address of the MPI library's own function. Aborts where it has none of that name.
[[nodiscard]] void* function_of_mpi(const std::string& name);

}  // namespace fab::test

/// MPI_ITSELF(MPI_Bcast)(buffer, ...)
#define MPI_ITSELF(function) (reinterpret_cast<decltype(&function)>(fab::test::function_of_mpi(#function)))
