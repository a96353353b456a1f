// The local operations of schedules, behind NBC_Sched_copy, NBC_Sched_op, NBC_Copy and NBC_Operation.
#pragma once

#include <mpi.h>

#include "bindings/mpi/datatypes/reduction.h"
#include "fab/schedule.h"

namespace fab::nbc {

/// A user's memory, as a block at an absolute address: the buffers of what runs begin at address 0. Throws Failure as
/// mpi::single_block; `name` is that of the arguments.
[[nodiscard]] Block block_of(const char* name, const void* buffer, int count, MPI_Datatype type);

/// target = lower op higher, element by element; `lower` is the lower ranks' operand.
struct Combination {
  mpi::Reducer reducer;
  Block lower{};
  Block higher{};
  Block target{};
};

/// Throws Failure as mpi::reducer_of, and for bad buffers and counts.
[[nodiscard]] Combination combination_of(void* tgt, const void* src1, const void* src2, int count, MPI_Datatype type,
                                         MPI_Op op);

/// Throws Failure(MPI_ERR_COUNT) unless both have the same bytes.
void check_copy(const Block& from, const Block& to);

/// A combination as copies and a reduction, which wants its operands in one piece, the result in place of the higher
/// one. `sink` gives scratch and does, or notes, the steps.
template <class Sink>
void combine(Sink&& sink, const Combination& combination) {
  const Block& target = combination.target;
  const std::size_t bytes = target.layout.size();
  Block lower = combination.lower;
  Block result = target;
  if (!target.layout.is_contiguous()) result = sink.scratch(bytes);
  if (!target.layout.is_contiguous() || lower.offset == target.offset) {
    lower = sink.scratch(bytes);
    sink.copy(combination.lower, lower);
  }
  if (result.buffer != target.buffer || combination.higher.offset != target.offset)
    sink.copy(combination.higher, result);
  sink.reduce(combination.reducer, lower, result);
  if (result.buffer != target.buffer) sink.copy(result, target);
}

/// At once.
void do_copy(const Block& from, const Block& to);
void do_combine(const Combination& combination);

}  // namespace fab::nbc
