// Converts MPI datatypes to fab's layouts.
#pragma once

#include <mpi.h>

#include "fab/layout.h"

namespace fab::mpi {

/// Throws Failure(MPI_ERR_TYPE) for what is no handle of a datatype.
void require_datatype(MPI_Datatype type);

/// The layout of one element, computed once per type and kept as its attribute. Valid until the type is freed; copies
/// live on. Throws Failure(MPI_ERR_TYPE) for what is no handle of a datatype, a type that is not committed, or an
/// unknown constructor.
[[nodiscard]] const Layout& layout_of(MPI_Datatype type);

/// The handle means the same type as long as the process lives: that is predefined.
[[nodiscard]] bool is_permanent(MPI_Datatype type) noexcept;

void open_datatypes();

}  // namespace fab::mpi
