// Exchanges between neighbours (Hoefler, Lorenzen, Gregor, Lumsdaine, Topological Collectives for MPI-2, 2008).
//
// Common to all calls
//   - Block i goes to destination i and comes from source i of the communicator's neighborhood(). On a Cartesian
//     communicator that is per dimension +1, then -1; what leaves in direction +d arrives in the receiver's -d block.
//   - The two ends of an edge must agree about its size. More than the receiver declared is Errc::truncated there,
//     less is Errc::mismatch, and nothing is written beyond the block.
//   - Collective over the communicator, but synchronises nobody beyond the messages themselves.
//   - The `i` forms return at once; a progress thread finishes the exchange while the caller computes.
//   - The second call with the same shape (counts, layouts; any addresses) builds nothing.
//   - Throws Error(invalid_topology) without a topology, Error(invalid_argument) when the number of blocks is not that
//     of the neighbours; otherwise what Request::wait throws.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "fab/block_shape.h"
#include "fab/communicator.h"
#include "fab/request.h"

namespace fab {

/// Equal blocks: `block` describes one; block i starts i extents of it from the buffer's address.
void neighbor_xchg(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] Request ineighbor_xchg(const Communicator& communicator, const void* send, void* recv,
                                     const Layout& block);

/// In place: the blocks of `buffer` are sent and replaced.
void neighbor_xchg(const Communicator& communicator, void* buffer, const Layout& block);
[[nodiscard]] Request ineighbor_xchg(const Communicator& communicator, void* buffer, const Layout& block);

/// A shape per block, for instance the faces of a local array. The arrays may be reused when the call returns.
void neighbor_xchgv(const Communicator& communicator, const void* send, std::span<const BlockShape> send_blocks,
                    void* recv, std::span<const BlockShape> recv_blocks);
[[nodiscard]] Request ineighbor_xchgv(const Communicator& communicator, const void* send,
                                      std::span<const BlockShape> send_blocks, void* recv,
                                      std::span<const BlockShape> recv_blocks);

/// Shifts one block by `displacement` (any integer) along `dimension` of a Cartesian communicator. Without a source the
/// receive block stays as it is.
void cart_shift_xchg(const Communicator& communicator, const void* send, void* recv, const Layout& block, int dimension,
                     int displacement);
[[nodiscard]] Request icart_shift_xchg(const Communicator& communicator, const void* send, void* recv,
                                       const Layout& block, int dimension, int displacement);
/// In place: the block is sent and replaced.
void cart_shift_xchg(const Communicator& communicator, void* buffer, const Layout& block, int dimension,
                     int displacement);
[[nodiscard]] Request icart_shift_xchg(const Communicator& communicator, void* buffer, const Layout& block,
                                       int dimension, int displacement);

/// Arrays of trivially copyable elements, as many per neighbour on both sides.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] Request ineighbor_xchg(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  const Neighborhood& edges = communicator.neighborhood();
  const auto per_block = [](std::size_t elements, std::size_t blocks, const char* side) {
    if (blocks == 0 ? elements != 0 : elements % blocks != 0)
      throw Error(Errc::invalid_count, std::string("neighbor_xchg: ") + std::to_string(elements) + " elements in the " +
                                           side + " buffer for " + std::to_string(blocks) + " neighbours");
    return blocks == 0 ? 0 : elements / blocks;
  };
  const std::size_t outgoing = per_block(send.size(), edges.destinations.size(), "send");
  const std::size_t incoming = per_block(recv.size(), edges.sources.size(), "receive");
  if (!edges.destinations.empty() && !edges.sources.empty() && outgoing != incoming)
    throw Error(Errc::invalid_count, "neighbor_xchg: " + std::to_string(outgoing) + " elements per neighbour sent, " +
                                         std::to_string(incoming) + " received; use neighbor_xchgv for unequal blocks");
  const std::size_t elements = edges.destinations.empty() ? incoming : outgoing;
  return ineighbor_xchg(communicator, send.data(), recv.data(), Layout::contiguous(elements * sizeof(T)));
}
template <class T>
requires std::is_trivially_copyable_v<T>
void neighbor_xchg(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  ineighbor_xchg(communicator, send, recv).wait();
}

}  // namespace fab
