// The neighbourhood collectives of the standard (MPI-4.1, section 8.6; persistent: 8.7). They follow the edges of
// fab/neighbor.h in another order.
//
// Common to all
//   - Blocks stand in *slots*: on a Cartesian communicator two a dimension, for the neighbour in direction -1, then +1.
//     The slot of a neighbour that does not exist keeps its place: nothing of it is sent, nothing is received there. On
//     graphs the slots are the neighbours, on distributed graphs the destinations and sources, in their order.
//   - What leaves in direction +d arrives in the receiver's -d block, also where both neighbours are one process. On
//     graphs the k-th block from i to j arrives in the k-th block that j has for i.
//   - Sizes, forms and failures are those of fab/neighbor.h. Sources of a persistent operation cannot be waited for one
//     by one.
//   - In place there must be as many destinations as sources. A gather has no place for what a rank sends, hence no
//   form
//     in place.
#pragma once

#include "fab/gather.h"

namespace fab {

/// How many there are.
struct NeighborSlots {
  std::size_t destinations = 0;
  std::size_t sources = 0;
};
/// Throws Error(invalid_topology) without a topology.
[[nodiscard]] NeighborSlots neighbor_slots(const Communicator& communicator);

/// fab::neighbor_allgather(communicator, send, recv): the send buffer goes to all destinations; the receive buffer has
/// a block for each slot of a source.
struct NeighborAllgather : Forms<NeighborAllgather> {
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static detail::BlockCall with(Send&& send, Recv&& recv) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv))};
  }
  static detail::BlockCall with(const void* send, void* recv, const Layout& block) noexcept {
    return {detail::between<kName>(send, recv, &block)};
  }

 private:
  static constexpr auto kName = detail::OperationName::neighbor_allgather;
};
inline namespace operations {
inline constexpr NeighborAllgather neighbor_allgather;
}

/// fab::neighbor_allgatherv(communicator, send, recv, recv_blocks): the same with blocks of any size (fab/blocks.h).
struct NeighborAllgatherv : Forms<NeighborAllgatherv>,
                            detail::GatheredBlocks<detail::OperationName::neighbor_allgatherv> {};
inline namespace operations {
inline constexpr NeighborAllgatherv neighbor_allgatherv;
}

/// fab::neighbor_alltoall(communicator, send, recv), fab::neighbor_alltoall(communicator, buffer): the block in slot i
/// goes to destination i and comes from source i.
struct NeighborAlltoall : Forms<NeighborAlltoall>, detail::EqualBlocks<detail::OperationName::neighbor_alltoall> {};
inline namespace operations {
inline constexpr NeighborAlltoall neighbor_alltoall;
}

/// fab::neighbor_alltoallv(communicator, send, send_blocks, recv, recv_blocks), fab::neighbor_alltoallv(communicator,
/// buffer, blocks): the same with blocks of any size (fab/blocks.h).
struct NeighborAlltoallv : Forms<NeighborAlltoallv>, detail::AnyBlocks<detail::OperationName::neighbor_alltoallv> {};
inline namespace operations {
inline constexpr NeighborAlltoallv neighbor_alltoallv;
}

}  // namespace fab
