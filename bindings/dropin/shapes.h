// The Shape of a call from its arguments, which may be wrong.
#pragma once

#include <mpi.h>

#include "bindings/dropin/rules.h"
#include "bindings/mpi/datatypes/reduction.h"

namespace fab::dropin {

/// 0 for arguments that are wrong.
[[nodiscard]] inline std::size_t bytes_of(int count, MPI_Datatype type) noexcept {
  int size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

[[nodiscard]] inline Shape of_block(int count, MPI_Datatype type) noexcept { return {.bytes = bytes_of(count, type)}; }

/// Of calls with a root, where one side is significant there alone: the other one is in place at the root at most.
[[nodiscard]] inline Shape of_blocks(const void* buffer, int count, MPI_Datatype type, int root_count,
                                     MPI_Datatype root_type) noexcept {
  return buffer == MPI_IN_PLACE ? of_block(root_count, root_type) : of_block(count, type);
}

[[nodiscard]] inline Shape of_reduction(int count, MPI_Datatype type, MPI_Op op) {
  return {.bytes = bytes_of(count, type),
          .can_reduce = mpi::can_reduce(op, type),
          .user_operation = !mpi::is_predefined_operation(op)};
}

/// Blocks of different sizes, which each rank knows a part of.
[[nodiscard]] inline Shape of_unknown_bytes() noexcept { return {}; }

}  // namespace fab::dropin
