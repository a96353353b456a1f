// Gather, scatter and allgather: one block per rank (MPI-4.1, sections 6.5 to 6.7). The rules of fab/collectives.h
// hold, and these:
//   - In operations without a v, blocks have the same size on all ranks. In gatherv and scatterv only the root knows
//     all sizes: more bytes than the receiver has room for are Errc::truncated there, fewer are Errc::mismatch.
//   - Throws Error(invalid_argument) for another number of blocks than ranks, or for a form that only the root may use;
//     Error(invalid_count) for buffers of another size, blocks outside their buffer, or if this rank's own block
//     differs in size from its place.
#pragma once

#include "fab/alltoall.h"

namespace fab {

namespace detail {

/// The arguments of operations that move a block of equal size between the root and each rank.
template <OperationName kOperation>
struct RootedBlocks {
  /// The root's buffer for all ranks has one block per rank, one behind the other.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static BlockCall with(Send&& send, Recv&& recv, Root root = {}) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv)), root};
  }
  /// In place: at the root all blocks, on other ranks their own.
  template <RecvBuffer Buffer>
  static BlockCall with(Buffer&& buffer, Root root = {}) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer)), root};
  }
  /// Block i starts i extents of the layout from the address.
  static BlockCall with(const void* send, void* recv, const Layout& block, Root root = {}) noexcept {
    return {between<kOperation>(send, recv, &block), root};
  }
  /// In place, by address.
  static BlockCall with(void* buffer, const Layout& block, Root root = {}) noexcept {
    return {in_place<kOperation>(buffer, &block), root};
  }
};

/// The arguments of operations that send the whole buffer and receive blocks of any size.
template <OperationName kOperation>
struct GatheredBlocks {
  /// The whole send buffer is one block. `blocks` says where the received ones go, in elements of the receive buffer.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static BlocksCall with(Send&& send, Recv&& recv, const Blocks& blocks) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv)), nullptr, &blocks};
  }
  /// By address. `block` is the layout of the block that is sent.
  static BlocksCall with(const void* send, const Layout& block, void* recv, const Blocks& blocks) noexcept {
    return {between<kOperation>(send, recv, &block), nullptr, &blocks};
  }
};

}  // namespace detail

/// fab::gather(communicator, send, recv, root): collects the blocks of all ranks at the root, in the order of ranks. On
/// other ranks `recv` may be empty. In place, the root's buffer has one block per rank, with its own block already in
/// its place; other ranks send theirs. Some ranks may call in place and others not.
struct Gather : Forms<Gather>, detail::RootedBlocks<detail::OperationName::gather> {};
inline namespace operations {
inline constexpr Gather gather;  ///< @copydoc fab::Gather
}

/// fab::gatherv(communicator, send, recv, blocks, root): each rank sends its buffer. `blocks` gives the places at the
/// root; on other ranks `blocks` and `recv` may be empty. Only the root may call in place; its own block is in its
/// place.
struct Gatherv : Forms<Gatherv> {
  /// @{
  /// Buffers, or addresses with the layout of this rank's block; between two, or in place at the root.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static detail::BlocksCall with(Send&& send, Recv&& recv, const Blocks& blocks, Root root = {}) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv)), nullptr, &blocks, root};
  }
  template <RecvBuffer Buffer>
  static detail::BlocksCall with(Buffer&& buffer, const Blocks& blocks, Root root = {}) {
    return {detail::in_place<kName>(std::forward<Buffer>(buffer)), nullptr, &blocks, root};
  }
  static detail::BlocksCall with(const void* send, const Layout& block, void* recv, const Blocks& blocks,
                                 Root root = {}) noexcept {
    return {detail::between<kName>(send, recv, &block), nullptr, &blocks, root};
  }
  static detail::BlocksCall with(void* buffer, const Blocks& blocks, Root root = {}) noexcept {
    return {detail::in_place<kName>(buffer, nullptr), nullptr, &blocks, root};
  }
  /// @}

 private:
  static constexpr auto kName = detail::OperationName::gatherv;
};
inline namespace operations {
inline constexpr Gatherv gatherv;  ///< @copydoc fab::Gatherv
}

/// fab::scatter(communicator, send, recv, root): sends the root's blocks to the ranks, in their order. On other ranks
/// `send` may be empty. In place, the root's own block stays where it is in its buffer, which has one block per rank;
/// other ranks receive. Some ranks may call in place and others not.
struct Scatter : Forms<Scatter>, detail::RootedBlocks<detail::OperationName::scatter> {};
inline namespace operations {
inline constexpr Scatter scatter;  ///< @copydoc fab::Scatter
}

/// fab::scatterv(communicator, send, blocks, recv, root): each rank receives its buffer. `blocks` gives the places at
/// the root; on other ranks `blocks` and `send` may be empty. Only the root may call in place; its own block stays.
struct Scatterv : Forms<Scatterv> {
  /// @{
  /// Buffers, or addresses with the layout of this rank's block; between two, or in place at the root.
  template <class Send, class Recv>
  requires BufferPair<Send, Recv>
  static detail::BlocksCall with(Send&& send, const Blocks& blocks, Recv&& recv, Root root = {}) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv)), &blocks, nullptr, root};
  }
  /// The buffer is only read: its elements may be const.
  template <SendBuffer Buffer>
  static detail::BlocksCall with(Buffer&& buffer, const Blocks& blocks, Root root = {}) {
    const auto from = detail::elements_of(std::forward<Buffer>(buffer));
    return {{.operation = kName,
             .in_place = true,
             .send = from.data(),
             .element_bytes = sizeof(ElementOf<Buffer>),
             .send_elements = from.size()},
            &blocks,
            nullptr,
            root};
  }
  static detail::BlocksCall with(const void* send, const Blocks& blocks, void* recv, const Layout& block,
                                 Root root = {}) noexcept {
    return {detail::between<kName>(send, recv, &block), &blocks, nullptr, root};
  }
  static detail::BlocksCall with(const void* buffer, const Blocks& blocks, Root root = {}) noexcept {
    return {{.operation = kName, .in_place = true, .send = buffer}, &blocks, nullptr, root};
  }
  /// @}

 private:
  static constexpr auto kName = detail::OperationName::scatterv;
};
inline namespace operations {
inline constexpr Scatterv scatterv;  ///< @copydoc fab::Scatterv
}

/// fab::allgather(communicator, send, recv): collects the blocks of all ranks on every rank, in the order of ranks. In
/// place, every rank's own block is already in its place.
struct Allgather : Forms<Allgather>, detail::EqualBlocks<detail::OperationName::allgather> {};
inline namespace operations {
inline constexpr Allgather allgather;  ///< @copydoc fab::Allgather
}

/// fab::allgatherv(communicator, send, recv, blocks): each rank sends its buffer. `blocks` gives the places on every
/// rank; sizes are the same on all ranks. In place, every rank's own block is already in its place.
struct Allgatherv : Forms<Allgatherv>, private detail::GatheredBlocks<detail::OperationName::allgatherv> {
  using GatheredBlocks::with;
  /// @{
  /// In place: a buffer, or the address of one, with a place for the block of each rank.
  template <RecvBuffer Buffer>
  static detail::BlocksCall with(Buffer&& buffer, const Blocks& blocks) {
    return {detail::in_place<kName>(std::forward<Buffer>(buffer)), nullptr, &blocks};
  }
  static detail::BlocksCall with(void* buffer, const Blocks& blocks) noexcept {
    return {detail::in_place<kName>(buffer, nullptr), nullptr, &blocks};
  }
  /// @}

 private:
  static constexpr auto kName = detail::OperationName::allgatherv;
};
inline namespace operations {
inline constexpr Allgatherv allgatherv;  ///< @copydoc fab::Allgatherv
}

}  // namespace fab
