// The neighbourhood collectives of the standard (MPI-4.1, section 8.6; persistent: 8.7). They follow the edges of
// fab/neighbor.h in another order.
//
// Common to all calls
//   - Blocks stand in *slots*: on a Cartesian communicator two a dimension, for the neighbour in direction -1, then +1.
//     The slot of a neighbour that does not exist keeps its place: nothing of it is sent, nothing is received there. On
//     graphs the slots are the neighbours, on distributed graphs the destinations and sources, in their order.
//   - What leaves in direction +d arrives in the receiver's -d block, also where both neighbours are one process. On
//     graphs the k-th block from i to j arrives in the k-th block that j has for i.
//   - Sizes, forms and failures are those of fab/neighbor.h. Persistent calls have no sources to be waited for one by
//     one.
//   - Throws Error(invalid_topology) without a topology, Error(invalid_argument) when the number of blocks is not that
//     of the slots, Error(invalid_count) for spans of another size; otherwise what Request::wait throws.
#pragma once

#include <span>
#include <string>

#include "fab/collectives.h"
#include "fab/rank_blocks.h"

namespace fab {

/// How many there are.
struct NeighborSlots {
  std::size_t destinations = 0;
  std::size_t sources = 0;
};
[[nodiscard]] NeighborSlots neighbor_slots(const Communicator& communicator);

/// The block at `send` goes to all destinations; that of source i comes i extents of it from `recv` on.
void neighbor_allgather(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] Request ineighbor_allgather(const Communicator& communicator, const void* send, void* recv,
                                          const Layout& block);
[[nodiscard]] PersistentExchange neighbor_allgather_init(const Communicator& communicator, const void* send, void* recv,
                                                         const Layout& block);

/// The same, with what comes from source i in block i.
void neighbor_allgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                         const RankBlocks& recv_blocks);
[[nodiscard]] Request ineighbor_allgatherv(const Communicator& communicator, const void* send, const Layout& block,
                                           void* recv, const RankBlocks& recv_blocks);
[[nodiscard]] PersistentExchange neighbor_allgatherv_init(const Communicator& communicator, const void* send,
                                                          const Layout& block, void* recv,
                                                          const RankBlocks& recv_blocks);

/// Block i, i extents of it from the buffer's address, goes to destination i and comes from source i.
void neighbor_alltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] Request ineighbor_alltoall(const Communicator& communicator, const void* send, void* recv,
                                         const Layout& block);
[[nodiscard]] PersistentExchange neighbor_alltoall_init(const Communicator& communicator, const void* send, void* recv,
                                                        const Layout& block);

/// Blocks of any size and shape (MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw).
void neighbor_alltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks, void* recv,
                        const RankBlocks& recv_blocks);
[[nodiscard]] Request ineighbor_alltoallv(const Communicator& communicator, const void* send,
                                          const RankBlocks& send_blocks, void* recv, const RankBlocks& recv_blocks);
[[nodiscard]] PersistentExchange neighbor_alltoallv_init(const Communicator& communicator, const void* send,
                                                         const RankBlocks& send_blocks, void* recv,
                                                         const RankBlocks& recv_blocks);

// Arrays of trivially copyable elements.

namespace detail {

inline void check_slots(std::size_t elements, std::size_t slots, std::size_t per_slot, const char* call) {
  if (elements != slots * per_slot)
    throw Error(Errc::invalid_count, std::string(call) + ": a buffer of " + std::to_string(elements) +
                                         " elements for " + std::to_string(slots) + " slots of " +
                                         std::to_string(per_slot));
}

/// The block of each slot.
template <class T>
[[nodiscard]] Layout slot_block(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  const auto [destinations, sources] = neighbor_slots(communicator);
  const std::size_t per_slot = destinations > 0 ? send.size() / destinations : sources > 0 ? recv.size() / sources : 0;
  check_slots(send.size(), destinations, per_slot, "neighbor_alltoall");
  check_slots(recv.size(), sources, per_slot, "neighbor_alltoall");
  return Layout::contiguous(per_slot * sizeof(T));
}

}  // namespace detail

template <detail::Element T>
void neighbor_allgather(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  detail::check_slots(recv.size(), neighbor_slots(communicator).sources, send.size(), "neighbor_allgather");
  neighbor_allgather(communicator, send.data(), recv.data(), detail::array_of(send));
}
template <detail::Element T>
[[nodiscard]] Request ineighbor_allgather(const Communicator& communicator, std::span<const T> send,
                                          std::span<T> recv) {
  detail::check_slots(recv.size(), neighbor_slots(communicator).sources, send.size(), "neighbor_allgather");
  return ineighbor_allgather(communicator, send.data(), recv.data(), detail::array_of(send));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange neighbor_allgather_init(const Communicator& communicator, std::span<const T> send,
                                                         std::span<T> recv) {
  detail::check_slots(recv.size(), neighbor_slots(communicator).sources, send.size(), "neighbor_allgather");
  return neighbor_allgather_init(communicator, send.data(), recv.data(), detail::array_of(send));
}

template <detail::Element T>
void neighbor_alltoall(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  neighbor_alltoall(communicator, send.data(), recv.data(), detail::slot_block(communicator, send, recv));
}
template <detail::Element T>
[[nodiscard]] Request ineighbor_alltoall(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  return ineighbor_alltoall(communicator, send.data(), recv.data(), detail::slot_block(communicator, send, recv));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange neighbor_alltoall_init(const Communicator& communicator, std::span<const T> send,
                                                        std::span<T> recv) {
  return neighbor_alltoall_init(communicator, send.data(), recv.data(), detail::slot_block(communicator, send, recv));
}

}  // namespace fab
