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
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static BlockCall with(Send&& send, Recv&& recv) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv))};
  }
  template <RecvBuffer Buffer>
  static BlockCall with(Buffer&& buffer) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer))};
  }
  /// Block i starts i extents of the layout from the address.
  static BlockCall with(const void* send, void* recv, const Layout& block) noexcept {
    return {between<kOperation>(send, recv, &block)};
  }
  static BlockCall with(void* buffer, const Layout& block) noexcept { return {in_place<kOperation>(buffer, &block)}; }
};

/// The arguments of operations whose blocks differ in size.
template <OperationName kOperation>
struct AnyBlocks {
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static BlocksCall with(Send&& send, const Blocks& send_blocks, Recv&& recv, const Blocks& recv_blocks) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv)), &send_blocks, &recv_blocks};
  }
  template <RecvBuffer Buffer>
  static BlocksCall with(Buffer&& buffer, const Blocks& blocks) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer)), nullptr, &blocks};
  }
  static BlocksCall with(const void* send, const Blocks& send_blocks, void* recv, const Blocks& recv_blocks) noexcept {
    return {between<kOperation>(send, recv, nullptr), &send_blocks, &recv_blocks};
  }
  static BlocksCall with(void* buffer, const Blocks& blocks) noexcept {
    return {in_place<kOperation>(buffer, nullptr), nullptr, &blocks};
  }
};

}  // namespace detail

/// fab::alltoall(communicator, send, recv), fab::alltoall(communicator, buffer): block i goes to rank i, and block i of
/// the result comes from rank i. A buffer has one block per rank.
struct Alltoall : Forms<Alltoall>, detail::EqualBlocks<detail::OperationName::alltoall> {};
inline namespace operations {
inline constexpr Alltoall alltoall;
}

/// fab::alltoallv(communicator, send, send_blocks, recv, recv_blocks), fab::alltoallv(communicator, buffer, blocks):
/// alltoall with blocks of any size (fab/blocks.h).
struct Alltoallv : Forms<Alltoallv>, detail::AnyBlocks<detail::OperationName::alltoallv> {};
inline namespace operations {
inline constexpr Alltoallv alltoallv;
}

}  // namespace fab
