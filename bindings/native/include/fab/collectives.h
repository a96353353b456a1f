// Collectives: all ranks of a communicator take part (MPI-4.1, chapter 6; Hoefler and Lumsdaine, Design,
// Implementation, and Usage of LibNBC, 2006). What forms they have, and what buffers they take: fab/operation.h.
//
// Common to all
//   - All ranks of the communicator start its operations, these and exchanges, in the same order, with the same root,
//     the same combining operation and blocks of the same size; layouts may differ. Blocks of no bytes are fine.
//   - Functions of the caller's that combine elements run on threads that wait or test, for whatever request, and not
//     under a lock. Until one of them does, the operation does not go on. They must not call fab.
//   - The same inputs on the same ranks by the same algorithm give the same bits, however the network behaves.
//   - Which algorithm does an operation depends on its bytes and the ranks; FAB_ALGO_<COLLECTIVE> names one (fab_info
//     --algorithms).
//   - Throws Error(invalid_rank) for a root that is no rank, Error(invalid_count) for a block that holds no whole
//   number
//     of elements or for buffers that differ in size, Error(invalid_argument) for a combining operation that is not
//     defined on the elements; otherwise what Request::wait throws.
#pragma once

#include "fab/operation.h"

namespace fab {

namespace detail {

/// What combines elements of type T: an Operator, or one of fab's operations on a type that has them.
template <class T>
[[nodiscard]] const Operator& combining(const Operator& operation) noexcept {
  return operation;
}
/// Whether it is defined on the type is looked at when the call is made.
template <Reducible T>
[[nodiscard]] Operator combining(ReduceOp operation) noexcept {
  return {.reduction = {operation, element_type_of<T>()}, .element_bytes = sizeof(T)};
}

template <class Combine, class T>
concept Combines = requires(const Combine& operation) {
  combining<T>(operation);
};

/// The functions of operations that combine whole vectors and have no root.
template <OperationName kOperation>
struct Combining {
  /// Every rank's elements are combined with those of the other ranks at the same place.
  template <class Send, class Recv, class Combine>
  requires BufferPair<Send, Recv> && Combines<Combine, ElementOf<Send>>
  static ReduceCall with(Send&& send, Recv&& recv, const Combine& operation) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv)),
            combining<ElementOf<Send>>(operation)};
  }
  template <RecvBuffer Buffer, class Combine>
  requires Combines<Combine, ElementOf<Buffer>>
  static ReduceCall with(Buffer&& buffer, const Combine& operation) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer)), combining<ElementOf<Buffer>>(operation)};
  }
  static ReduceCall with(const void* send, void* recv, const Layout& block, const Operator& operation) noexcept {
    return {between<kOperation>(send, recv, &block), operation};
  }
  static ReduceCall with(void* buffer, const Layout& block, const Operator& operation) noexcept {
    return {in_place<kOperation>(buffer, &block), operation};
  }
};

}  // namespace detail

/// fab::barrier(communicator): complete when all ranks have started it.
struct Barrier : Forms<Barrier> {
  static detail::BlockCall with() noexcept { return {}; }
};
inline namespace operations {
inline constexpr Barrier barrier;
}

/// fab::bcast(communicator, buffer, root): the root's elements go to all ranks.
struct Bcast : Forms<Bcast> {
  template <RecvBuffer Buffer>
  static detail::BlockCall with(Buffer&& buffer, Root root = {}) {
    return {detail::in_place<detail::OperationName::bcast>(std::forward<Buffer>(buffer)), root};
  }
  static detail::BlockCall with(void* buffer, const Layout& block, Root root = {}) noexcept {
    return {detail::in_place<detail::OperationName::bcast>(buffer, &block), root};
  }
};
inline namespace operations {
inline constexpr Bcast bcast;
}

/// fab::reduce(communicator, send, recv, operation, root): what all ranks have at one place is combined, in the order
/// of ranks, and comes to the root. On other ranks `recv` may be empty. In place the root's buffer is replaced, those
/// of the others are read. Ranks may mix the two.
struct Reduce : Forms<Reduce> {
  template <class Send, class Recv, class Combine>
  requires BufferPair<Send, Recv> && detail::Combines<Combine, ElementOf<Send>>
  static detail::ReduceCall with(Send&& send, Recv&& recv, const Combine& operation, Root root = {}) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv)),
            detail::combining<ElementOf<Send>>(operation), root};
  }
  template <RecvBuffer Buffer, class Combine>
  requires detail::Combines<Combine, ElementOf<Buffer>>
  static detail::ReduceCall with(Buffer&& buffer, const Combine& operation, Root root = {}) {
    return {detail::in_place<kName>(std::forward<Buffer>(buffer)), detail::combining<ElementOf<Buffer>>(operation),
            root};
  }
  static detail::ReduceCall with(const void* send, void* recv, const Layout& block, const Operator& operation,
                                 Root root = {}) noexcept {
    return {detail::between<kName>(send, recv, &block), operation, root};
  }
  static detail::ReduceCall with(void* buffer, const Layout& block, const Operator& operation,
                                 Root root = {}) noexcept {
    return {detail::in_place<kName>(buffer, &block), operation, root};
  }

 private:
  static constexpr auto kName = detail::OperationName::reduce;
};
inline namespace operations {
inline constexpr Reduce reduce;
}

/// fab::allreduce(communicator, send, recv, operation), fab::allreduce(communicator, buffer, operation): as reduce,
/// with the result on all ranks.
struct Allreduce : Forms<Allreduce>, detail::Combining<detail::OperationName::allreduce> {};
inline namespace operations {
inline constexpr Allreduce allreduce;
}

}  // namespace fab
