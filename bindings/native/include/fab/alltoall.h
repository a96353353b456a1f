// All-to-all: a block from every rank to every rank (MPI-4.1, section 6.8). What holds for all collectives:
// fab/collectives.h, and
//   - What rank i sends to rank j has as many bytes as what j receives from i. More than the receiver has room for is
//     Errc::truncated there, less is Errc::mismatch. Blocks of no bytes need no message in alltoallv, so ranks that
//     disagree whether a block is empty get to know with FAB_CHECK=1 only.
//   - Throws Error(invalid_argument) for another number of blocks than ranks, Error(invalid_count) for buffers of
//   another
//     size and for blocks outside of their buffer.
#pragma once

#include "fab/collectives.h"

namespace fab {

namespace detail {

/// The functions of operations whose buffers have an equal block for each of all.
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

/// The same for blocks of any size.
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

/// fab::alltoall(communicator, send, recv), fab::alltoall(communicator, buffer): block i of as many as there are ranks
/// goes to rank i and comes from rank i.
struct Alltoall : Forms<Alltoall>, detail::EqualBlocks<detail::OperationName::alltoall> {};
inline namespace operations {
inline constexpr Alltoall alltoall;
}

/// fab::alltoallv(communicator, send, send_blocks, recv, recv_blocks), fab::alltoallv(communicator, buffer, blocks):
/// the same with blocks of any size (fab/blocks.h).
struct Alltoallv : Forms<Alltoallv>, detail::AnyBlocks<detail::OperationName::alltoallv> {};
inline namespace operations {
inline constexpr Alltoallv alltoallv;
}

}  // namespace fab
