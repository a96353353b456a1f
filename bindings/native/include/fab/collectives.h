// Collectives: all ranks of a communicator take part (MPI-4.1, chapter 6; Hoefler and Lumsdaine, Design,
// Implementation, and Usage of LibNBC, 2006).
//
// Common to all calls
//   - All ranks of the communicator start its calls, these and exchanges, in the same order, with the same root, the
//     same operation and blocks of the same size; layouts may differ. Blocks of no bytes are fine.
//   - The `i` forms return at once; a progress thread finishes the call while the caller computes. The `_init` forms
//     make a call that is started again and again (fab/persistent.h).
//   - Operations of the caller's own run on threads that wait or test, for whatever request, and not under a lock.
//   Until
//     one does, the call does not go on. They must not call fab.
//   - The same inputs on the same ranks by the same algorithm give the same bits, however the network behaves.
//   - Which algorithm does a call depends on its bytes and the ranks; FAB_ALGO_<COLLECTIVE> names one (fab_info
//     --algorithms).
//   - Throws Error(invalid_rank) for a root that is no rank, Error(invalid_count) for a block that holds no whole
//   number
//     of elements or spans that differ in size; otherwise what Request::wait throws.
#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "fab/communicator.h"
#include "fab/operator.h"
#include "fab/persistent.h"
#include "fab/request.h"

namespace fab {

/// Returns, or is complete, when all ranks have started it.
void barrier(const Communicator& communicator);
[[nodiscard]] Request ibarrier(const Communicator& communicator);
[[nodiscard]] PersistentExchange barrier_init(const Communicator& communicator);

/// The block at `buffer` goes from the root to all ranks.
void bcast(const Communicator& communicator, void* buffer, const Layout& block, Rank root);
[[nodiscard]] Request ibcast(const Communicator& communicator, void* buffer, const Layout& block, Rank root);
[[nodiscard]] PersistentExchange bcast_init(const Communicator& communicator, void* buffer, const Layout& block,
                                            Rank root);

/// The blocks of all ranks become one, in the order of ranks: at the root the block at `recv`, which others need not
/// have.
void reduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
            const Operator& operation, Rank root);
[[nodiscard]] Request ireduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                              const Operator& operation, Rank root);
[[nodiscard]] PersistentExchange reduce_init(const Communicator& communicator, const void* send, void* recv,
                                             const Layout& block, const Operator& operation, Rank root);
/// In place: the root's block is replaced, those of the others are read. Ranks may mix this with the form above.
void reduce(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation, Rank root);
[[nodiscard]] Request ireduce(const Communicator& communicator, void* buffer, const Layout& block,
                              const Operator& operation, Rank root);
[[nodiscard]] PersistentExchange reduce_init(const Communicator& communicator, void* buffer, const Layout& block,
                                             const Operator& operation, Rank root);

/// The same, with the result on all ranks.
void allreduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
               const Operator& operation);
[[nodiscard]] Request iallreduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                                 const Operator& operation);
[[nodiscard]] PersistentExchange allreduce_init(const Communicator& communicator, const void* send, void* recv,
                                                const Layout& block, const Operator& operation);
/// In place: every rank's block is replaced.
void allreduce(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation);
[[nodiscard]] Request iallreduce(const Communicator& communicator, void* buffer, const Layout& block,
                                 const Operator& operation);
[[nodiscard]] PersistentExchange allreduce_init(const Communicator& communicator, void* buffer, const Layout& block,
                                                const Operator& operation);

// Arrays of trivially copyable elements.

namespace detail {

template <class T>
[[nodiscard]] Layout array_of(std::span<T> elements) {
  return Layout::contiguous(elements.size_bytes());
}

inline void check_equal(std::size_t send, std::size_t recv, const char* call) {
  if (send != recv)
    throw Error(Errc::invalid_count, std::string(call) + ": " + std::to_string(send) + " elements to send, " +
                                         std::to_string(recv) + " to receive");
}

/// What combines elements of type T: an operation of fab's, or what Operator::of makes of the caller's.
template <class T>
[[nodiscard]] Operator operator_on(const Operator& operation) {
  return operation;
}
template <Reducible T>
[[nodiscard]] Operator operator_on(ReduceOp op) {
  return Operator::of<T>(op);
}

template <class T>
concept Element = std::is_trivially_copyable_v<T>;

/// A ReduceOp, for types that have it, or an Operator.
template <class Operation, class T>
concept Combines = requires(const Operation& operation) {
  operator_on<T>(operation);
};

}  // namespace detail

template <detail::Element T>
void bcast(const Communicator& communicator, std::span<T> buffer, Rank root) {
  bcast(communicator, buffer.data(), detail::array_of(buffer), root);
}
template <detail::Element T>
[[nodiscard]] Request ibcast(const Communicator& communicator, std::span<T> buffer, Rank root) {
  return ibcast(communicator, buffer.data(), detail::array_of(buffer), root);
}
template <detail::Element T>
[[nodiscard]] PersistentExchange bcast_init(const Communicator& communicator, std::span<T> buffer, Rank root) {
  return bcast_init(communicator, buffer.data(), detail::array_of(buffer), root);
}

/// `recv` may be empty on ranks that are not the root.
template <detail::Element T, detail::Combines<T> Operation>
void reduce(const Communicator& communicator, std::span<const T> send, std::span<T> recv, const Operation& operation,
            Rank root) {
  if (communicator.rank() == root) detail::check_equal(send.size(), recv.size(), "reduce");
  reduce(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation), root);
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request ireduce(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                              const Operation& operation, Rank root) {
  if (communicator.rank() == root) detail::check_equal(send.size(), recv.size(), "reduce");
  return ireduce(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation),
                 root);
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange reduce_init(const Communicator& communicator, std::span<const T> send,
                                             std::span<T> recv, const Operation& operation, Rank root) {
  if (communicator.rank() == root) detail::check_equal(send.size(), recv.size(), "reduce");
  return reduce_init(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation),
                     root);
}
template <detail::Element T, detail::Combines<T> Operation>
void reduce(const Communicator& communicator, std::span<T> buffer, const Operation& operation, Rank root) {
  reduce(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation), root);
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request ireduce(const Communicator& communicator, std::span<T> buffer, const Operation& operation,
                              Rank root) {
  return ireduce(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation), root);
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange reduce_init(const Communicator& communicator, std::span<T> buffer,
                                             const Operation& operation, Rank root) {
  return reduce_init(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation), root);
}

template <detail::Element T, detail::Combines<T> Operation>
void allreduce(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
               const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "allreduce");
  allreduce(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request iallreduce(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                                 const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "allreduce");
  return iallreduce(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange allreduce_init(const Communicator& communicator, std::span<const T> send,
                                                std::span<T> recv, const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "allreduce");
  return allreduce_init(communicator, send.data(), recv.data(), detail::array_of(send),
                        detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
void allreduce(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  allreduce(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request iallreduce(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  return iallreduce(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange allreduce_init(const Communicator& communicator, std::span<T> buffer,
                                                const Operation& operation) {
  return allreduce_init(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}

}  // namespace fab
