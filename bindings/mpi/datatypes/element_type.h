// Converts MPI's predefined datatypes to the element types that fab computes with.
#pragma once

#include <mpi.h>

#include <optional>

#include "fab/reduction.h"

namespace fab::mpi {

/// Empty for derived types and for predefined ones on which no operation is defined (MPI-4.1, 6.9.2 and 6.9.4).
/// MPI_CHAR counts as an integer, as in Open MPI and MPICH. Safe from any thread once MPI is initialised.
[[nodiscard]] std::optional<ElementType> element_type_of(MPI_Datatype type);

}  // namespace fab::mpi
