// The arguments of one side of a call: checks what the user gave and converts it for fab's calls.
#pragma once

#include <mpi.h>

#include <span>
#include <string_view>
#include <vector>

#include "collectives/calls/block_list.h"
#include "core/communicator/communicator.h"

namespace fab::mpi {

/// `name` is "send" or "recv", as in the names of the arguments, or empty.
struct Side {
  std::string_view name;
  const void* buffer;
  MPI_Datatype type;
  int count = 0;                ///< equal blocks
  const int* counts = nullptr;  ///< of different blocks
  const int* displacements = nullptr;
};

/// The side of a call whose blocks have a datatype each. MPI has displacements in bytes there, as int or MPI_Aint.
template <class Displacement>
struct TypedSide {
  std::string_view name;
  const void* buffer;
  const int* counts;
  const Displacement* displacements;
  const MPI_Datatype* types;
  std::vector<collectives::BlockView>* views;  ///< memory that the list of blocks refers to
};

template <class AnySide>
[[nodiscard]] bool is_in_place(const AnySide& side) noexcept {
  return side.buffer == MPI_IN_PLACE;
}

/// Fab's calls take what they send and what they receive alike.
template <class AnySide>
[[nodiscard]] void* memory_of(const AnySide& side) noexcept {
  return const_cast<void*>(side.buffer);
}

// All throw Failure: MPI_ERR_COUNT, MPI_ERR_ARG for null arrays, MPI_ERR_TYPE, and MPI_ERR_BUFFER for null where data
// is and for MPI_IN_PLACE: where that may be, callers ask first. What they return refers to the user's type and arrays.
[[nodiscard]] collectives::BlockList equal_blocks(const Side& side, std::size_t blocks);
[[nodiscard]] collectives::BlockList varied_blocks(const Side& side, std::size_t blocks);
[[nodiscard]] collectives::BlockView single_block(const Side& side);
/// From MPI_BOTTOM, which is null in some libraries, displacements are addresses: a null buffer is wrong only where a
/// block with data would begin at address 0. Allocates nothing once side.views has had as many blocks.
template <class Displacement>
[[nodiscard]] collectives::BlockList typed_blocks(const TypedSide<Displacement>& side, std::size_t blocks);

void check_count(std::string_view name, int count);
void check_not_negative(std::string_view name, std::span<const int> counts);
/// Counts and displacements of `blocks` blocks.
void check_counts(const Side& side, std::size_t blocks);
/// A null address is MPI_BOTTOM in some libraries, so it is wrong only where the type has no absolute addresses.
void check_buffer(const Side& side, const Layout& element, bool any_elements);

/// Throws Failure: MPI_ERR_TOPOLOGY unless the communicator is Cartesian, MPI_ERR_DIMS.
void check_direction(const core::Communicator& core, int direction);

}  // namespace fab::mpi
