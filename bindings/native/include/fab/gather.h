// Gather, scatter and allgather: a block of each rank (MPI-4.1, sections 6.5 to 6.7). Common to all calls is what
// fab/collectives.h says, and
//   - Blocks of calls without a v have the same size on all ranks. Of gatherv and scatterv only the root knows all
//     sizes; a rank that sends more than the root has room for is Errc::truncated there, less is Errc::mismatch.
//   - Throws Error(invalid_argument) for another number of blocks than ranks, or a call that only the root may make;
//     Error(invalid_count) for spans too short, or when this rank's own block has another size than its place has.
#pragma once

#include <span>
#include <string>

#include "fab/collectives.h"
#include "fab/rank_blocks.h"

namespace fab {

/// The blocks of all ranks come together at the root: block i, of rank i, i extents of it from `recv` on. Other ranks
/// need no `recv`.
void gather(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root);
[[nodiscard]] Request igather(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                              Rank root);
[[nodiscard]] PersistentExchange gather_init(const Communicator& communicator, const void* send, void* recv,
                                             const Layout& block, Rank root);

/// In place: the root's own block is in its place in `buffer`; of other ranks the block at `buffer` is sent. Ranks may
/// mix this with the form above.
void gather(const Communicator& communicator, void* buffer, const Layout& block, Rank root);
[[nodiscard]] Request igather(const Communicator& communicator, void* buffer, const Layout& block, Rank root);
[[nodiscard]] PersistentExchange gather_init(const Communicator& communicator, void* buffer, const Layout& block,
                                             Rank root);

/// Every rank sends `block`, and `blocks` says where the root has them.
void gatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
             const RankBlocks& blocks, Rank root);
[[nodiscard]] Request igatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                               const RankBlocks& blocks, Rank root);
[[nodiscard]] PersistentExchange gatherv_init(const Communicator& communicator, const void* send, const Layout& block,
                                              void* recv, const RankBlocks& blocks, Rank root);

/// In place, on the root only: its own block is in its place; other ranks use the form above.
void gatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks, Rank root);
[[nodiscard]] Request igatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks, Rank root);
[[nodiscard]] PersistentExchange gatherv_init(const Communicator& communicator, void* buffer, const RankBlocks& blocks,
                                              Rank root);

/// The root's blocks go to the ranks: block i, i extents of it from `send` on, to rank i. Other ranks need no `send`.
void scatter(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root);
[[nodiscard]] Request iscatter(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                               Rank root);
[[nodiscard]] PersistentExchange scatter_init(const Communicator& communicator, const void* send, void* recv,
                                              const Layout& block, Rank root);

/// In place: the root's own block stays where it is in `buffer`; other ranks receive at `buffer`. Ranks may mix this
/// with the form above.
void scatter(const Communicator& communicator, void* buffer, const Layout& block, Rank root);
[[nodiscard]] Request iscatter(const Communicator& communicator, void* buffer, const Layout& block, Rank root);
[[nodiscard]] PersistentExchange scatter_init(const Communicator& communicator, void* buffer, const Layout& block,
                                              Rank root);

/// Every rank receives `block`, and `blocks` says where the root has them.
void scatterv(const Communicator& communicator, const void* send, const RankBlocks& blocks, void* recv,
              const Layout& block, Rank root);
[[nodiscard]] Request iscatterv(const Communicator& communicator, const void* send, const RankBlocks& blocks,
                                void* recv, const Layout& block, Rank root);
[[nodiscard]] PersistentExchange scatterv_init(const Communicator& communicator, const void* send,
                                               const RankBlocks& blocks, void* recv, const Layout& block, Rank root);

/// In place, on the root only: its own block stays where it is; other ranks use the form above.
void scatterv(const Communicator& communicator, const void* buffer, const RankBlocks& blocks, Rank root);
[[nodiscard]] Request iscatterv(const Communicator& communicator, const void* buffer, const RankBlocks& blocks,
                                Rank root);
[[nodiscard]] PersistentExchange scatterv_init(const Communicator& communicator, const void* buffer,
                                               const RankBlocks& blocks, Rank root);

/// The blocks of all ranks come together on every rank: block i, of rank i, i extents of it from `recv` on.
void allgather(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] Request iallgather(const Communicator& communicator, const void* send, void* recv, const Layout& block);
[[nodiscard]] PersistentExchange allgather_init(const Communicator& communicator, const void* send, void* recv,
                                                const Layout& block);

/// In place: every rank's own block is in its place in `buffer`.
void allgather(const Communicator& communicator, void* buffer, const Layout& block);
[[nodiscard]] Request iallgather(const Communicator& communicator, void* buffer, const Layout& block);
[[nodiscard]] PersistentExchange allgather_init(const Communicator& communicator, void* buffer, const Layout& block);

/// Every rank sends `block`, and `blocks`, whose sizes are the same on all ranks, says where they come together.
void allgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                const RankBlocks& blocks);
[[nodiscard]] Request iallgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                                  const RankBlocks& blocks);
[[nodiscard]] PersistentExchange allgatherv_init(const Communicator& communicator, const void* send,
                                                 const Layout& block, void* recv, const RankBlocks& blocks);

/// In place: every rank's own block is in its place in `buffer`.
void allgatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks);
[[nodiscard]] Request iallgatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks);
[[nodiscard]] PersistentExchange allgatherv_init(const Communicator& communicator, void* buffer,
                                                 const RankBlocks& blocks);

// Arrays of trivially copyable elements.

namespace detail {

[[noreturn]] inline void refuse_blocks(const char* call, std::size_t elements, const std::string& needed) {
  throw Error(Errc::invalid_count,
              std::string(call) + ": a buffer of " + std::to_string(elements) + " elements; the call needs " + needed);
}

/// The block of each rank. At the root, `all` has as many as there are ranks.
template <class Own, class All>
[[nodiscard]] Layout own_block(const Communicator& communicator, Own own, All all, Rank root, const char* call) {
  const std::size_t needed = own.size() * static_cast<std::size_t>(communicator.size());
  if (communicator.rank() == root && all.size() != needed) refuse_blocks(call, all.size(), std::to_string(needed));
  return array_of(own);
}

/// The same in place: the root's buffer holds those of all ranks.
template <class T>
[[nodiscard]] Layout block_in(const Communicator& communicator, std::span<T> buffer, Rank root, const char* call) {
  if (communicator.rank() != root) return array_of(buffer);
  const auto ranks = static_cast<std::size_t>(communicator.size());
  if (buffer.size() % ranks != 0) refuse_blocks(call, buffer.size(), "a multiple of " + std::to_string(ranks));
  return array_of(buffer.first(buffer.size() / ranks));
}

/// Blocks of elements of type T in a buffer that has them all.
template <class T>
class ElementBlocks {
 public:
  template <class Buffer>
  ElementBlocks(const Communicator& communicator, Buffer buffer, std::span<const int> counts,
                std::span<const int> displacements, Rank root, const char* call)
      : element_(Layout::contiguous(sizeof(T))) {
    if (communicator.rank() != root) return;
    blocks_ = RankBlocks(element_, counts, displacements);
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (displacements[i] < 0 ||
          static_cast<std::size_t>(displacements[i]) + static_cast<std::size_t>(counts[i]) > buffer.size())
        refuse_blocks(call, buffer.size(),
                      std::to_string(counts[i]) + " from " + std::to_string(displacements[i]) + " on");
  }
  ElementBlocks(const ElementBlocks&) = delete;
  ElementBlocks& operator=(const ElementBlocks&) = delete;
  operator const RankBlocks&() const noexcept { return blocks_; }  // NOLINT(google-explicit-constructor)

 private:
  Layout element_;
  RankBlocks blocks_;
};

}  // namespace detail

/// `recv` may be empty on ranks that are not the root.
template <detail::Element T>
void gather(const Communicator& communicator, std::span<const T> send, std::span<T> recv, Rank root) {
  gather(communicator, send.data(), recv.data(), detail::own_block(communicator, send, recv, root, "gather"), root);
}
template <detail::Element T>
[[nodiscard]] Request igather(const Communicator& communicator, std::span<const T> send, std::span<T> recv, Rank root) {
  return igather(communicator, send.data(), recv.data(), detail::own_block(communicator, send, recv, root, "gather"),
                 root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange gather_init(const Communicator& communicator, std::span<const T> send,
                                             std::span<T> recv, Rank root) {
  return gather_init(communicator, send.data(), recv.data(),
                     detail::own_block(communicator, send, recv, root, "gather"), root);
}

/// The root's `buffer` has a block for every rank, those of others have one.
template <detail::Element T>
void gather(const Communicator& communicator, std::span<T> buffer, Rank root) {
  gather(communicator, buffer.data(), detail::block_in(communicator, buffer, root, "gather"), root);
}
template <detail::Element T>
[[nodiscard]] Request igather(const Communicator& communicator, std::span<T> buffer, Rank root) {
  return igather(communicator, buffer.data(), detail::block_in(communicator, buffer, root, "gather"), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange gather_init(const Communicator& communicator, std::span<T> buffer, Rank root) {
  return gather_init(communicator, buffer.data(), detail::block_in(communicator, buffer, root, "gather"), root);
}

/// Counts and displacements in elements; these and `recv` may be empty on ranks that are not the root.
template <detail::Element T>
void gatherv(const Communicator& communicator, std::span<const T> send, std::span<T> recv, std::span<const int> counts,
             std::span<const int> displacements, Rank root) {
  gatherv(communicator, send.data(), detail::array_of(send), recv.data(),
          detail::ElementBlocks<T>(communicator, recv, counts, displacements, root, "gatherv"), root);
}
template <detail::Element T>
[[nodiscard]] Request igatherv(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                               std::span<const int> counts, std::span<const int> displacements, Rank root) {
  return igatherv(communicator, send.data(), detail::array_of(send), recv.data(),
                  detail::ElementBlocks<T>(communicator, recv, counts, displacements, root, "gatherv"), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange gatherv_init(const Communicator& communicator, std::span<const T> send,
                                              std::span<T> recv, std::span<const int> counts,
                                              std::span<const int> displacements, Rank root) {
  return gatherv_init(communicator, send.data(), detail::array_of(send), recv.data(),
                      detail::ElementBlocks<T>(communicator, recv, counts, displacements, root, "gatherv"), root);
}

template <detail::Element T>
void gatherv(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
             std::span<const int> displacements, Rank root) {
  gatherv(communicator, buffer.data(),
          detail::ElementBlocks<T>(communicator, buffer, counts, displacements, root, "gatherv"), root);
}
template <detail::Element T>
[[nodiscard]] Request igatherv(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
                               std::span<const int> displacements, Rank root) {
  return igatherv(communicator, buffer.data(),
                  detail::ElementBlocks<T>(communicator, buffer, counts, displacements, root, "gatherv"), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange gatherv_init(const Communicator& communicator, std::span<T> buffer,
                                              std::span<const int> counts, std::span<const int> displacements,
                                              Rank root) {
  return gatherv_init(communicator, buffer.data(),
                      detail::ElementBlocks<T>(communicator, buffer, counts, displacements, root, "gatherv"), root);
}

/// `send` may be empty on ranks that are not the root.
template <detail::Element T>
void scatter(const Communicator& communicator, std::span<const T> send, std::span<T> recv, Rank root) {
  scatter(communicator, send.data(), recv.data(), detail::own_block(communicator, recv, send, root, "scatter"), root);
}
template <detail::Element T>
[[nodiscard]] Request iscatter(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                               Rank root) {
  return iscatter(communicator, send.data(), recv.data(), detail::own_block(communicator, recv, send, root, "scatter"),
                  root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange scatter_init(const Communicator& communicator, std::span<const T> send,
                                              std::span<T> recv, Rank root) {
  return scatter_init(communicator, send.data(), recv.data(),
                      detail::own_block(communicator, recv, send, root, "scatter"), root);
}

/// The root's `buffer` has a block for every rank, those of others have one.
template <detail::Element T>
void scatter(const Communicator& communicator, std::span<T> buffer, Rank root) {
  scatter(communicator, buffer.data(), detail::block_in(communicator, buffer, root, "scatter"), root);
}
template <detail::Element T>
[[nodiscard]] Request iscatter(const Communicator& communicator, std::span<T> buffer, Rank root) {
  return iscatter(communicator, buffer.data(), detail::block_in(communicator, buffer, root, "scatter"), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange scatter_init(const Communicator& communicator, std::span<T> buffer, Rank root) {
  return scatter_init(communicator, buffer.data(), detail::block_in(communicator, buffer, root, "scatter"), root);
}

/// Counts and displacements in elements; these and `send` may be empty on ranks that are not the root.
template <detail::Element T>
void scatterv(const Communicator& communicator, std::span<const T> send, std::span<const int> counts,
              std::span<const int> displacements, std::span<T> recv, Rank root) {
  scatterv(communicator, send.data(),
           detail::ElementBlocks<T>(communicator, send, counts, displacements, root, "scatterv"), recv.data(),
           detail::array_of(recv), root);
}
template <detail::Element T>
[[nodiscard]] Request iscatterv(const Communicator& communicator, std::span<const T> send, std::span<const int> counts,
                                std::span<const int> displacements, std::span<T> recv, Rank root) {
  return iscatterv(communicator, send.data(),
                   detail::ElementBlocks<T>(communicator, send, counts, displacements, root, "scatterv"), recv.data(),
                   detail::array_of(recv), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange scatterv_init(const Communicator& communicator, std::span<const T> send,
                                               std::span<const int> counts, std::span<const int> displacements,
                                               std::span<T> recv, Rank root) {
  return scatterv_init(communicator, send.data(),
                       detail::ElementBlocks<T>(communicator, send, counts, displacements, root, "scatterv"),
                       recv.data(), detail::array_of(recv), root);
}

template <detail::Element T>
void scatterv(const Communicator& communicator, std::span<const T> buffer, std::span<const int> counts,
              std::span<const int> displacements, Rank root) {
  scatterv(communicator, buffer.data(),
           detail::ElementBlocks<T>(communicator, buffer, counts, displacements, root, "scatterv"), root);
}
template <detail::Element T>
[[nodiscard]] Request iscatterv(const Communicator& communicator, std::span<const T> buffer,
                                std::span<const int> counts, std::span<const int> displacements, Rank root) {
  return iscatterv(communicator, buffer.data(),
                   detail::ElementBlocks<T>(communicator, buffer, counts, displacements, root, "scatterv"), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange scatterv_init(const Communicator& communicator, std::span<const T> buffer,
                                               std::span<const int> counts, std::span<const int> displacements,
                                               Rank root) {
  return scatterv_init(communicator, buffer.data(),
                       detail::ElementBlocks<T>(communicator, buffer, counts, displacements, root, "scatterv"), root);
}

template <detail::Element T>
void allgather(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  allgather(communicator, send.data(), recv.data(),
            detail::own_block(communicator, send, recv, communicator.rank(), "allgather"));
}
template <detail::Element T>
[[nodiscard]] Request iallgather(const Communicator& communicator, std::span<const T> send, std::span<T> recv) {
  return iallgather(communicator, send.data(), recv.data(),
                    detail::own_block(communicator, send, recv, communicator.rank(), "allgather"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange allgather_init(const Communicator& communicator, std::span<const T> send,
                                                std::span<T> recv) {
  return allgather_init(communicator, send.data(), recv.data(),
                        detail::own_block(communicator, send, recv, communicator.rank(), "allgather"));
}

template <detail::Element T>
void allgather(const Communicator& communicator, std::span<T> buffer) {
  allgather(communicator, buffer.data(), detail::block_in(communicator, buffer, communicator.rank(), "allgather"));
}
template <detail::Element T>
[[nodiscard]] Request iallgather(const Communicator& communicator, std::span<T> buffer) {
  return iallgather(communicator, buffer.data(),
                    detail::block_in(communicator, buffer, communicator.rank(), "allgather"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange allgather_init(const Communicator& communicator, std::span<T> buffer) {
  return allgather_init(communicator, buffer.data(),
                        detail::block_in(communicator, buffer, communicator.rank(), "allgather"));
}

/// Counts and displacements in elements.
template <detail::Element T>
void allgatherv(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                std::span<const int> counts, std::span<const int> displacements) {
  allgatherv(communicator, send.data(), detail::array_of(send), recv.data(),
             detail::ElementBlocks<T>(communicator, recv, counts, displacements, communicator.rank(), "allgatherv"));
}
template <detail::Element T>
[[nodiscard]] Request iallgatherv(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                                  std::span<const int> counts, std::span<const int> displacements) {
  return iallgatherv(
      communicator, send.data(), detail::array_of(send), recv.data(),
      detail::ElementBlocks<T>(communicator, recv, counts, displacements, communicator.rank(), "allgatherv"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange allgatherv_init(const Communicator& communicator, std::span<const T> send,
                                                 std::span<T> recv, std::span<const int> counts,
                                                 std::span<const int> displacements) {
  return allgatherv_init(
      communicator, send.data(), detail::array_of(send), recv.data(),
      detail::ElementBlocks<T>(communicator, recv, counts, displacements, communicator.rank(), "allgatherv"));
}

template <detail::Element T>
void allgatherv(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
                std::span<const int> displacements) {
  allgatherv(communicator, buffer.data(),
             detail::ElementBlocks<T>(communicator, buffer, counts, displacements, communicator.rank(), "allgatherv"));
}
template <detail::Element T>
[[nodiscard]] Request iallgatherv(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
                                  std::span<const int> displacements) {
  return iallgatherv(
      communicator, buffer.data(),
      detail::ElementBlocks<T>(communicator, buffer, counts, displacements, communicator.rank(), "allgatherv"));
}
template <detail::Element T>
[[nodiscard]] PersistentExchange allgatherv_init(const Communicator& communicator, std::span<T> buffer,
                                                 std::span<const int> counts, std::span<const int> displacements) {
  return allgatherv_init(
      communicator, buffer.data(),
      detail::ElementBlocks<T>(communicator, buffer, counts, displacements, communicator.rank(), "allgatherv"));
}

}  // namespace fab
