// Converts an MPI operation on an MPI datatype to a reduction of fab's.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "fab/layout.h"
#include "fab/reduction.h"

namespace fab::mpi {

class UserOperation;

/// Elements travel, and are combined, `element_bytes` apart; elements of a derived type without its gaps.
struct Reducer {
  Reduction reduction{};
  std::size_t element_bytes = 0;
  bool commutative = true;
  Layout element{};      ///< one element in the user's memory: element_bytes of data, and the type's extent
  UserReduction user{};  ///< of ReduceOp::user; works while `operation` lives

  std::shared_ptr<UserOperation> operation{};
};

/// A predefined operation, or one of MPI_Op_create, which runs in MPI, with the datatype and the places in memory that
/// it expects (MPI-4.1, 6.9.5). Logical operations take Fortran's integers, too, as they do C's.
///
/// Throws Failure: MPI_ERR_TYPE for what is no handle of a datatype and for derived types that are not committed;
/// MPI_ERR_OP for what is no handle of an operation, for those of one-sided communication only (MPI_REPLACE,
/// MPI_NO_OP), and for a predefined operation on a type that MPI-4.1, 6.9.2 and 6.9.4, do not define it for, or that
/// this build has no numbers like.
[[nodiscard]] Reducer reducer_of(MPI_Op op, MPI_Datatype type);

/// Whether it is MPI_SUM or another one that MPI brings along.
[[nodiscard]] bool is_predefined_operation(MPI_Op op);
/// Whether reducer_of gives a reducer, uncommitted datatypes apart: the same on all ranks of a correct call.
[[nodiscard]] bool can_reduce(MPI_Op op, MPI_Datatype type);

}  // namespace fab::mpi
