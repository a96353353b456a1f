// Handles of fab's performance variables, which tools hold like MPI's own.
#pragma once

#include <mpi.h>

#include "bindings/mpi/tool_interface/variables.h"

namespace fab::mpi {

/// From any thread. Throws std::bad_alloc.
[[nodiscard]] MPI_T_pvar_handle make_pvar_handle(const PerformanceVariable& variable);
/// Null if it is none of fab's.
[[nodiscard]] const PerformanceVariable* variable_of(MPI_T_pvar_handle handle) noexcept;
/// Precondition: it is one of fab's.
void free_pvar_handle(MPI_T_pvar_handle handle) noexcept;

}  // namespace fab::mpi
