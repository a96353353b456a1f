// The neighbourhood collectives of the MPI standard (MPI-4.1, section 8.6; persistent: 8.7). They use the edges of
// fab/neighbor.h in another order.
//
// Common to all
//   - Blocks stand in *slots*. A Cartesian communicator has two per dimension, for the neighbours at -1, then at +1. A
//     neighbour that does not exist keeps its slot: nothing is sent from there, and nothing is received there. On
//     graphs the slots are the neighbours, on distributed graphs the destinations and the sources, in their order.
//   - A block that leaves in direction +d arrives in the receiver's -d block, also if both neighbours are one process.
//     On graphs the k-th block from i to j arrives in the k-th block that j has for i.
//   - Sizes, forms and failures are those of fab/neighbor.h. Sources of a persistent operation cannot be waited for one
//     by one. Between nodes that hold several ranks its blocks may be carried by other ranks of the nodes, for which it
//     waits then (FAB_ALGO_NEIGHBOR).
//   - Operations in place need as many destinations as sources. An allgather has no form in place: its receive buffer
//     has no block of the rank's own.
#pragma once

#include "fab/api.h"
#include "fab/gather.h"

namespace fab {

/// The number of slots for blocks that are sent, and for blocks that are received.
struct NeighborSlots {
  std::size_t destinations = 0;  ///< blocks that are sent
  std::size_t sources = 0;       ///< blocks that are received
};
/// The slots of this rank. Throws Error(invalid_topology) without a topology.
[[nodiscard]] FAB_API NeighborSlots neighbor_slots(const Communicator& communicator);

/// fab::neighbor_allgather(communicator, send, recv): sends the send buffer to all destinations. The receive buffer has
/// one block per slot of a source.
struct NeighborAllgather : Forms<NeighborAllgather> {
  /// The send buffer is one block; the receive buffer has one per slot of a source, one behind the other.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static detail::BlockCall with(Send&& send, Recv&& recv) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv))};
  }
  /// By address, with blocks of this layout, one extent apart.
  static detail::BlockCall with(const void* send, void* recv, const Layout& block) noexcept {
    return {detail::between<kName>(send, recv, &block)};
  }

 private:
  static constexpr auto kName = detail::OperationName::neighbor_allgather;
};
inline namespace operations {
inline constexpr NeighborAllgather neighbor_allgather;  ///< @copydoc fab::NeighborAllgather
}

/// fab::neighbor_allgatherv(communicator, send, recv, recv_blocks): neighbor_allgather with blocks of any size.
struct NeighborAllgatherv : Forms<NeighborAllgatherv>,
                            detail::GatheredBlocks<detail::OperationName::neighbor_allgatherv> {};
inline namespace operations {
inline constexpr NeighborAllgatherv neighbor_allgatherv;  ///< @copydoc fab::NeighborAllgatherv
}

/// fab::neighbor_alltoall(communicator, send, recv), fab::neighbor_alltoall(communicator, buffer): the block in slot i
/// goes to destination i; slot i of the result comes from source i.
struct NeighborAlltoall : Forms<NeighborAlltoall>, detail::EqualBlocks<detail::OperationName::neighbor_alltoall> {};
inline namespace operations {
inline constexpr NeighborAlltoall neighbor_alltoall;  ///< @copydoc fab::NeighborAlltoall
}

/// fab::neighbor_alltoallv(communicator, send, send_blocks, recv, recv_blocks), fab::neighbor_alltoallv(communicator,
/// buffer, blocks): neighbor_alltoall with blocks of any size (fab/blocks.h).
struct NeighborAlltoallv : Forms<NeighborAlltoallv>, detail::AnyBlocks<detail::OperationName::neighbor_alltoallv> {};
inline namespace operations {
inline constexpr NeighborAlltoallv neighbor_alltoallv;  ///< @copydoc fab::NeighborAlltoallv
}

}  // namespace fab
