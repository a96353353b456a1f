// Exchanges between neighbours (Hoefler, Lorenzen, Gregor, Lumsdaine, Topological Collectives for MPI-2, 2008). What
// forms they have, and what buffers they take: fab/operation.h.
//
// Common to all
//   - Block i goes to destination i and comes from source i of the communicator's neighborhood(). On a Cartesian
//     communicator that is per dimension +1, then -1; what leaves in direction +d arrives in the receiver's -d block.
//   - The two ends of an edge must agree about its size. More than the receiver declared is Errc::truncated there, less
//     is Errc::mismatch, and nothing is written beyond the block.
//   - Collective over the communicator, but synchronises nobody beyond the messages themselves.
//   - The second call with the same shape (counts, layouts; any addresses) builds nothing.
//   - Of a persistent exchange each source can be waited for by itself (fab/persistent.h), but not of a shift.
//   - Throws Error(invalid_topology) without a topology, Error(invalid_argument) when the number of blocks is not that
//     of the neighbours, Error(invalid_count) for buffers of another size and for blocks outside of their buffer;
//     otherwise what Request::wait throws.
#pragma once

#include "fab/alltoall.h"

namespace fab {

/// fab::neighbor_xchg(communicator, send, recv), fab::neighbor_xchg(communicator, buffer): equal blocks, as many in
/// each buffer as there are neighbours.
struct NeighborXchg : Forms<NeighborXchg>, detail::EqualBlocks<detail::OperationName::neighbor_xchg> {};
inline namespace operations {
inline constexpr NeighborXchg neighbor_xchg;
}

/// fab::neighbor_xchgv(communicator, send, send_blocks, recv, recv_blocks), fab::neighbor_xchgv(communicator, buffer,
/// blocks): blocks of any size or shape, for instance the faces of a local array (fab/blocks.h).
struct NeighborXchgv : Forms<NeighborXchgv>, detail::AnyBlocks<detail::OperationName::neighbor_xchgv> {};
inline namespace operations {
inline constexpr NeighborXchgv neighbor_xchgv;
}

/// fab::cart_shift_xchg(communicator, send, recv, fab::Shift{.dimension = 0, .displacement = 1}):
/// shifts one block along a
/// dimension of a Cartesian communicator. Without a source the receive buffer stays as it is.
struct CartShiftXchg : Forms<CartShiftXchg> {
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

 private:
  static constexpr auto kName = detail::OperationName::cart_shift_xchg;
};
inline namespace operations {
inline constexpr CartShiftXchg cart_shift_xchg;
}

}  // namespace fab
