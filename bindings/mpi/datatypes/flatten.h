// Converts the constructor of an MPI datatype to a layout.
#pragma once

#include <mpi.h>

#include <vector>

#include "fab/layout.h"

namespace fab::mpi {

/// A named type, by size and extent; pair types such as MPI_DOUBLE_INT have a gap.
[[nodiscard]] Layout named_layout(MPI_Datatype type);

/// What MPI_Type_get_contents gives. Frees the types.
struct Contents {
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

/// Which constructor made the type: MPI_COMBINER_NAMED and so on.
[[nodiscard]] int combiner_of(MPI_Datatype type);
/// Whether the type is a predefined one, which must not be freed.
[[nodiscard]] bool is_predefined(MPI_Datatype type);

/// Any type, by way of its constructors. Throws Failure(MPI_ERR_TYPE) for a constructor that MPI does not describe.
[[nodiscard]] Layout flatten(MPI_Datatype type);

}  // namespace fab::mpi
