// The Shape of a call from its arguments, which may be wrong, and the arguments that it follows from.
#pragma once

#include <mpi.h>

#include "bindings/dropin/rules.h"
#include "bindings/mpi/base/handles.h"
#include "bindings/mpi/datatypes/reduction.h"

namespace fab::dropin {

/// Follows from the type signature alone: ranks may give it by different types and counts, and all decide by it. 0 for
/// arguments that are wrong; kUnknownBytes if no number holds the bytes.
[[nodiscard]] inline std::size_t bytes_of(int count, MPI_Datatype type) noexcept {
  MPI_Count size = 0;
  if (count <= 0 || !mpi::is_datatype(type) || PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  std::size_t bytes = 0;
  const bool fits = size >= 0 && !__builtin_mul_overflow(size, count, &bytes);  // MPI_UNDEFINED is negative
  return fits ? bytes : kUnknownBytes;
}

/// The arguments that a call's Shape follows from. Predefined types and operations last as long as MPI: calls with
/// equal outlines of those have equal shapes.
struct Outline {
  enum class Kind : unsigned char { block, reduction, unknown };

  Kind kind = Kind::block;
  int count = 0;
  MPI_Datatype type{};  ///< if it is not unknown
  MPI_Op op{};          ///< of a reduction

  bool operator==(const Outline&) const = default;
};

[[nodiscard]] inline Outline of_block(int count, MPI_Datatype type) noexcept {
  return {.kind = Outline::Kind::block, .count = count, .type = type};
}

/// Of calls with a root, where one side is significant there alone: the other one is in place at the root at most.
[[nodiscard]] inline Outline of_blocks(const void* buffer, int count, MPI_Datatype type, int root_count,
                                       MPI_Datatype root_type) noexcept {
  return buffer == MPI_IN_PLACE ? of_block(root_count, root_type) : of_block(count, type);
}

[[nodiscard]] inline Outline of_reduction(int count, MPI_Datatype type, MPI_Op op) noexcept {
  return {.kind = Outline::Kind::reduction, .count = count, .type = type, .op = op};
}

/// Blocks of different sizes, which each rank knows a part of.
[[nodiscard]] inline Outline of_unknown_bytes() noexcept { return {.kind = Outline::Kind::unknown}; }

[[nodiscard]] inline Shape shape_of(const Outline& outline) {
  if (outline.kind == Outline::Kind::unknown) return {};
  Shape shape{.bytes = bytes_of(outline.count, outline.type)};
  if (outline.kind == Outline::Kind::reduction) {
    shape.can_reduce = mpi::can_reduce(outline.op, outline.type);
    shape.user_operation = !mpi::is_predefined_operation(outline.op);
  }
  return shape;
}

}  // namespace fab::dropin
