// The Shape of a call from its arguments, which may be wrong.
#pragma once

#include <mpi.h>

#include "bindings/dropin/rules.h"
#include "bindings/mpi/datatypes/reduction.h"

namespace fab::dropin {

/// Follows from the type signature alone: ranks may give it by different types and counts, and all decide by it. 0 for
/// arguments that are wrong; kUnknownBytes if no number holds the bytes.
[[nodiscard]] inline std::size_t bytes_of(int count, MPI_Datatype type) noexcept {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  std::size_t bytes = 0;
  const bool fits = size >= 0 && !__builtin_mul_overflow(size, count, &bytes);  // MPI_UNDEFINED is negative
  return fits ? bytes : kUnknownBytes;
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
