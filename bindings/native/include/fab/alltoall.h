// All-to-all: a block from every rank to every rank (MPI-4.1, section 6.8). The rules of fab/collectives.h hold, and
// these:
//   - The block that rank i sends to rank j has as many bytes as the block that j receives from i. More bytes than the
//     receiver has room for are Errc::truncated there, fewer are Errc::mismatch. alltoallv sends no empty blocks: ranks
//     that disagree whether a block is empty get an error only with FAB_CHECK=1.
//   - Throws Error(invalid_argument) for another number of blocks than ranks, Error(invalid_count) for buffers of
//     another size and for blocks outside their buffer.
#pragma once

#include "fab/collectives.h"

namespace fab {

namespace detail {

/// The arguments of operations whose buffers hold one block of equal size per rank, or per neighbour.
template <OperationName kOperation>
struct EqualBlocks {
  /// Each buffer has one block per rank or neighbour, one behind the other. The send buffer of an allgather is one
  /// block.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static BlockCall with(Send&& send, Recv&& recv) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv))};
  }
  /// In place: the buffer has as many blocks as the result.
  template <RecvBuffer Buffer>
  static BlockCall with(Buffer&& buffer) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer))};
  }
  /// Block i starts i extents of the layout from the address.
  static BlockCall with(const void* send, void* recv, const Layout& block) noexcept {
    return {between<kOperation>(send, recv, &block)};
  }
  /// In place, with blocks of this layout.
  static BlockCall with(void* buffer, const Layout& block) noexcept { return {in_place<kOperation>(buffer, &block)}; }
};

/// The arguments of operations whose blocks differ in size.
template <OperationName kOperation>
struct AnyBlocks {
  /// The blocks of each buffer lie where its Blocks say, in elements of the buffer.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static BlocksCall with(Send&& send, const Blocks& send_blocks, Recv&& recv, const Blocks& recv_blocks) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv)), &send_blocks, &recv_blocks};
  }
  /// In place: block i of the result has the place and size of the block i that is sent.
  template <RecvBuffer Buffer>
  static BlocksCall with(Buffer&& buffer, const Blocks& blocks) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer)), nullptr, &blocks};
  }
  /// Buffers by address. The Blocks give the layout of their elements, or a shape for each block.
  static BlocksCall with(const void* send, const Blocks& send_blocks, void* recv, const Blocks& recv_blocks) noexcept {
    return {between<kOperation>(send, recv, nullptr), &send_blocks, &recv_blocks};
  }
  /// In place, by address.
  static BlocksCall with(void* buffer, const Blocks& blocks) noexcept {
    return {in_place<kOperation>(buffer, nullptr), nullptr, &blocks};
  }
};

}  // namespace detail

/// fab::alltoall(communicator, send, recv), fab::alltoall(communicator, buffer): block i goes to rank i, and block i of
/// the result comes from rank i. A buffer has one block per rank.
struct Alltoall : Forms<Alltoall>, detail::EqualBlocks<detail::OperationName::alltoall> {};
inline namespace operations {
inline constexpr Alltoall alltoall;  ///< @copydoc fab::Alltoall
}

/// fab::alltoallv(communicator, send, send_blocks, recv, recv_blocks), fab::alltoallv(communicator, buffer, blocks):
/// alltoall with blocks of any size (fab/blocks.h).
struct Alltoallv : Forms<Alltoallv>, detail::AnyBlocks<detail::OperationName::alltoallv> {};
inline namespace operations {
inline constexpr Alltoallv alltoallv;  ///< @copydoc fab::Alltoallv
}

}  // namespace fab
