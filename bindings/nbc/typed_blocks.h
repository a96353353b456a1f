// Blocks of which each has a datatype of its own, as the w-forms have them.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/calls/arguments.h"

namespace fab::nbc {

/// One side of such a call; `displacements` are in bytes.
template <class Displacement>
struct TypedSide {
  std::string_view name;  ///< "send" or "recv"
  const void* buffer;
  const int* counts;
  const Displacement* displacements;
  const MPI_Datatype* types;
};

/// Throws as mpi::varied_blocks. From MPI_BOTTOM, null where it is known, displacements are addresses: a null buffer is
/// wrong where a block with data would begin there.
template <class Displacement>
std::vector<BlockShape> typed_blocks(const TypedSide<Displacement>& side, std::size_t blocks) {
  std::vector<BlockShape> shapes;
  if (blocks > 0 && (side.counts == nullptr || side.displacements == nullptr || side.types == nullptr))
    throw mpi::Failure(MPI_ERR_ARG, fmt::format("a null pointer among {}counts, {}displs and {}types", side.name,
                                                side.name.substr(0, 1), side.name));
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool absolute = side.buffer == nullptr && side.displacements[i] != 0;
    const void* const somewhere = absolute ? static_cast<const void*>(&side) : side.buffer;
    const mpi::Side block{.name = side.name, .buffer = somewhere, .type = side.types[i], .count = side.counts[i]};
    shapes.push_back({side.displacements[i], mpi::single_block(block).in(BufferId::send).layout});
  }
  return shapes;
}

}  // namespace fab::nbc
