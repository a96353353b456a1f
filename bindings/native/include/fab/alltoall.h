// All-to-all: a block from every rank to every rank (MPI-4.1, section 6.8). Common to all calls is what
// fab/collectives.h says, and
//   - What rank i sends to rank j has as many bytes as what j receives from i. More than the receiver has room for is
//     Errc::truncated there, less is Errc::mismatch. Blocks of no bytes need no message in alltoallv, so ranks that
//     disagree whether a block is empty get to know with FAB_CHECK=1 only.
//   - Throws Error(invalid_argument) for another number of blocks than ranks, Error(invalid_count) for spans of another
//     size.
#pragma once

#include <span>
#include <string>

#include "fab/collectives.h"
#include "fab/rank_blocks.h"

namespace fab {

/// Equal blocks: block i, i extents of it from the buffer's address, goes to rank i and comes from rank i.
void alltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] Request ialltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] PersistentExchange alltoall_init(const Communicator& communicator, const void* send, void* recv,
                                               const Layout& block);

/// In place, on all ranks: the blocks of `buffer` are sent and replaced.
void alltoall(const Communicator& communicator, void* buffer, const Layout& block);
[[nodiscard]] Request ialltoall(const Communicator& communicator, void* buffer, const Layout& block);
[[nodiscard]] PersistentExchange alltoall_init(const Communicator& communicator, void* buffer, const Layout& block);

/// Blocks of any size and shape (MPI_Alltoallv, MPI_Alltoallw): block i goes to rank i and comes from rank i.
void alltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks, void* recv,
               const RankBlocks& recv_blocks);
[[nodiscard]] Request ialltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks,
                                 void* recv, const RankBlocks& recv_blocks);
[[nodiscard]] PersistentExchange alltoallv_init(const Communicator& communicator, const void* send,
                                                const RankBlocks& send_blocks, void* recv,
                                                const RankBlocks& recv_blocks);

/// In place, on all ranks: the blocks of `buffer` are sent and replaced.
void alltoallv(const Communicator& communicator, void* buffer, const RankBlocks& blocks);
[[nodiscard]] Request ialltoallv(const Communicator& communicator, void* buffer, const RankBlocks& blocks);
[[nodiscard]] PersistentExchange alltoallv_init(const Communicator& communicator, void* buffer,
                                                const RankBlocks& blocks);

// Arrays of trivially copyable elements.

namespace detail {

/// One of as many equal blocks as there are ranks.
template <class T>
[[nodiscard]] Layout block_of(const Communicator& communicator, std::span<T> buffer, const char* call) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  if (buffer.size() % ranks != 0)
    throw Error(Errc::invalid_count, std::string(call) + ": " + std::to_string(buffer.size()) +
                                         " elements are no equal blocks for " + std::to_string(ranks) + " ranks");
  return Layout::contiguous(buffer.size_bytes() / ranks);
}

/// Blocks that lie inside the buffer.
template <class T>
[[nodiscard]] RankBlocks blocks_in(std::span<T> buffer, const Layout& element, std::span<const int> counts,
                                   std::span<const int> displacements, const char* call) {
  const RankBlocks blocks(element, counts, displacements);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (displacements[i] >= 0 &&
        static_cast<std::size_t>(displacements[i]) + static_cast<std::size_t>(counts[i]) <= buffer.size())
      continue;
    throw Error(Errc::invalid_count, std::string(call) + ": block " + std::to_string(i) + " has " +
                                         std::to_string(counts[i]) + " elements from " +
                                         std::to_string(displacements[i]) + " on; the buffer has " +
                                         std::to_string(buffer.size()));
  }
  return blocks;
}

}  // namespace detail

template <detail::Element T>
void alltoall(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  detail::check_equal(send.size(), recv.size(), "alltoall");
  alltoall(communicator, send.data(), recv.data(), detail::block_of(communicator, send, "alltoall"));
}
template <detail::Element T>
[[nodiscard]] Request ialltoall(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  detail::check_equal(send.size(), recv.size(), "alltoall");
  return ialltoall(communicator, send.data(), recv.data(), detail::block_of(communicator, send, "alltoall"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange alltoall_init(const Communicator& communicator, std::span<const T> send,
                                               std::span<T> recv) {
  detail::check_equal(send.size(), recv.size(), "alltoall");
  return alltoall_init(communicator, send.data(), recv.data(), detail::block_of(communicator, send, "alltoall"));
}
template <detail::Element T>
void alltoall(const Communicator& communicator, std::span<T> buffer) {
  alltoall(communicator, buffer.data(), detail::block_of(communicator, buffer, "alltoall"));
}
template <detail::Element T>
[[nodiscard]] Request ialltoall(const Communicator& communicator, std::span<T> buffer) {
  return ialltoall(communicator, buffer.data(), detail::block_of(communicator, buffer, "alltoall"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange alltoall_init(const Communicator& communicator, std::span<T> buffer) {
  return alltoall_init(communicator, buffer.data(), detail::block_of(communicator, buffer, "alltoall"));
}

/// Counts and displacements in elements.
template <detail::Element T>
void alltoallv(const Communicator& communicator, std::span<const T> send, std::span<const int> send_counts,
               std::span<const int> send_displacements, std::span<T> recv, std::span<const int> recv_counts,
               std::span<const int> recv_displacements) {
  const Layout element = Layout::contiguous(sizeof(T));
  alltoallv(communicator, send.data(), detail::blocks_in(send, element, send_counts, send_displacements, "alltoallv"),
            recv.data(), detail::blocks_in(recv, element, recv_counts, recv_displacements, "alltoallv"));
}
template <detail::Element T>
[[nodiscard]] Request ialltoallv(const Communicator& communicator, std::span<const T> send,
                                 std::span<const int> send_counts, std::span<const int> send_displacements,
                                 std::span<T> recv, std::span<const int> recv_counts,
                                 std::span<const int> recv_displacements) {
  const Layout element = Layout::contiguous(sizeof(T));
  return ialltoallv(communicator, send.data(),
                    detail::blocks_in(send, element, send_counts, send_displacements, "alltoallv"), recv.data(),
                    detail::blocks_in(recv, element, recv_counts, recv_displacements, "alltoallv"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange alltoallv_init(const Communicator& communicator, std::span<const T> send,
                                                std::span<const int> send_counts,
                                                std::span<const int> send_displacements, std::span<T> recv,
                                                std::span<const int> recv_counts,
                                                std::span<const int> recv_displacements) {
  const Layout element = Layout::contiguous(sizeof(T));
  return alltoallv_init(communicator, send.data(),
                        detail::blocks_in(send, element, send_counts, send_displacements, "alltoallv"), recv.data(),
                        detail::blocks_in(recv, element, recv_counts, recv_displacements, "alltoallv"));
}
template <detail::Element T>
void alltoallv(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
               std::span<const int> displacements) {
  const Layout element = Layout::contiguous(sizeof(T));
  alltoallv(communicator, buffer.data(), detail::blocks_in(buffer, element, counts, displacements, "alltoallv"));
}
template <detail::Element T>
[[nodiscard]] Request ialltoallv(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
                                 std::span<const int> displacements) {
  const Layout element = Layout::contiguous(sizeof(T));
  return ialltoallv(communicator, buffer.data(),
                    detail::blocks_in(buffer, element, counts, displacements, "alltoallv"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange alltoallv_init(const Communicator& communicator, std::span<T> buffer,
                                                std::span<const int> counts, std::span<const int> displacements) {
  const Layout element = Layout::contiguous(sizeof(T));
  return alltoallv_init(communicator, buffer.data(),
                        detail::blocks_in(buffer, element, counts, displacements, "alltoallv"));
}

}  // namespace fab
