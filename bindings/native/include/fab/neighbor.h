// Exchanges between neighbours (Hoefler, Lorenzen, Gregor, Lumsdaine, Topological Collectives for MPI-2, 2008).
// fab/operation.h describes their forms and their buffers.
//
// Common to all
//   - Block i goes to destination i and comes from source i of the communicator's neighborhood(). On a Cartesian
//     communicator that is per dimension +1, then -1. A block that leaves in direction +d arrives in the receiver's
//     -d block.
//   - Both ends of an edge must agree about its size. More bytes than the receiver has room for are Errc::truncated
//     there, fewer are Errc::mismatch. Nothing is written beyond the block.
//   - Collective over the communicator. A rank waits only for the messages of its own neighbours, unless
//     FAB_ALGO_NEIGHBOR=by_node lets other ranks of the nodes carry them in persistent exchanges.
//   - The second call with the same shape (counts and layouts, at any addresses) builds nothing.
//   - The sources of a persistent exchange can be waited for one by one (fab/persistent.h), except those of a shift.
//   - Throws Error(invalid_topology) without a topology, Error(invalid_argument) for another number of blocks than
//     neighbours, Error(invalid_count) for buffers of another size and for blocks outside their buffer, and the errors
//     of Request::wait.
#pragma once

#include "fab/alltoall.h"
#include "fab/partitioned.h"

namespace fab {

namespace detail {
[[nodiscard]] FAB_API PartitionedExchange partitioned(const Communicator& communicator, std::size_t parts,
                                                      const BlockCall& call);
}

/// fab::neighbor_xchg(communicator, send, recv), fab::neighbor_xchg(communicator, buffer): exchanges blocks of equal
/// size. Each buffer has one block per neighbour.
struct NeighborXchg : Forms<NeighborXchg>, detail::EqualBlocks<detail::OperationName::neighbor_xchg> {
  /// Makes a persistent exchange whose blocks consist of `parts` equal parts (fab/partitioned.h). Each buffer has one
  /// block per neighbour. Waits for this rank's neighbours, with which it compares the sizes. Throws
  /// Error(invalid_argument) for 0 parts, Error(invalid_count) for a block that is no whole number of parts, and
  /// Error(mismatch) on both ranks of an edge that give it other sizes or other numbers of parts.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  [[nodiscard]] PartitionedExchange partitioned(const Communicator& communicator, std::size_t parts, Send&& send,
                                                Recv&& recv) const {
    return detail::partitioned(communicator, parts, with(std::forward<Send>(send), std::forward<Recv>(recv)));
  }
  /// For parts of any layout, of which this is one; the parts of all blocks lie one extent apart.
  [[nodiscard]] PartitionedExchange partitioned(const Communicator& communicator, std::size_t parts, const void* send,
                                                void* recv, const Layout& part) const {
    return detail::partitioned(communicator, parts, with(send, recv, part));
  }
};
inline namespace operations {
inline constexpr NeighborXchg neighbor_xchg;  ///< @copydoc fab::NeighborXchg
}

/// fab::neighbor_xchgv(communicator, send, send_blocks, recv, recv_blocks), fab::neighbor_xchgv(communicator, buffer,
/// blocks): exchanges blocks of any size or shape, for instance the faces of a local array (fab/blocks.h).
struct NeighborXchgv : Forms<NeighborXchgv>, detail::AnyBlocks<detail::OperationName::neighbor_xchgv> {};
inline namespace operations {
inline constexpr NeighborXchgv neighbor_xchgv;  ///< @copydoc fab::NeighborXchgv
}

/// fab::cart_shift_xchg(communicator, send, recv, fab::Shift{.dimension = fab::Dimension{0}, .displacement =
/// 1}): shifts one block along a dimension of a Cartesian communicator. If a rank has no source, its receive buffer
/// stays as it is.
struct CartShiftXchg : Forms<CartShiftXchg> {
  /// @{
  /// Buffers, or addresses with the layout of the block that moves; between two, or in place.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static detail::ShiftCall with(Send&& send, Recv&& recv, Shift shift) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv)), shift};
  }
  template <RecvBuffer Buffer>
  static detail::ShiftCall with(Buffer&& buffer, Shift shift) {
    return {detail::in_place<kName>(std::forward<Buffer>(buffer)), shift};
  }
  static detail::ShiftCall with(const void* send, void* recv, const Layout& block, Shift shift) noexcept {
    return {detail::between<kName>(send, recv, &block), shift};
  }
  static detail::ShiftCall with(void* buffer, const Layout& block, Shift shift) noexcept {
    return {detail::in_place<kName>(buffer, &block), shift};
  }
  /// @}

 private:
  static constexpr auto kName = detail::OperationName::cart_shift_xchg;
};
inline namespace operations {
inline constexpr CartShiftXchg cart_shift_xchg;  ///< @copydoc fab::CartShiftXchg
}

}  // namespace fab
