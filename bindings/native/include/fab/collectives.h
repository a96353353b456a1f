// Collectives: all ranks of a communicator take part (MPI-4.1, chapter 6; Hoefler and Lumsdaine, Design,
// Implementation, and Usage of LibNBC, 2006). fab/operation.h describes their forms and their buffers.
//
// Common to all
//   - All ranks of the communicator start its collectives and exchanges in the same order, with the same root, the
//     same combining operation and blocks of the same size. Layouts may differ. Blocks may be empty.
//   - The caller's own combining functions run on threads that wait or test, for any request, and not under a lock.
//     The operation makes no progress until such a thread does. The functions must not call fab.
//   - Equal inputs on the same ranks give equal bits with the same algorithm, in any order of the messages.
//   - The algorithm of an operation depends on its bytes and on the number of ranks. FAB_ALGO_<COLLECTIVE> selects one
//     (fab_info --algorithms lists them).
//   - Throws Error(invalid_rank) for a root that is no rank, Error(invalid_count) for a block that is no whole number
//     of elements or for buffers that differ in size, Error(invalid_argument) for a combining operation that is not
//     defined on the elements, and the errors of Request::wait.
#pragma once

#include "fab/operation.h"

namespace fab {

namespace detail {

/// The operator that combines elements of type T: an Operator as given, or one of fab's operations on T.
template <class T>
[[nodiscard]] const Operator& combining(const Operator& operation) noexcept {
  return operation;
}
/// The call checks whether the operation is defined on the type.
template <Reducible T>
[[nodiscard]] Operator combining(ReduceOp operation) noexcept {
  return {
      .reduction = {operation, element_type_of<T>()}, .element_bytes = sizeof(T), .commutative = commutes(operation)};
}

template <class Combine, class T>
concept Combines = requires(const Combine& operation) {
  combining<T>(operation);
};

/// The arguments of operations that combine whole vectors and have no root.
template <OperationName kOperation>
struct Combining {
  /// Element i of the result combines the elements i of all ranks.
  template <class Send, class Recv, class Combine>
  requires BufferPair<Send, Recv> && Combines<Combine, ElementOf<Send>>
  static ReduceCall with(Send&& send, Recv&& recv, const Combine& operation) {
    return {between<kOperation>(std::forward<Send>(send), std::forward<Recv>(recv)),
            combining<ElementOf<Send>>(operation)};
  }
  /// In place: the buffer holds this rank's elements, and then the result.
  template <RecvBuffer Buffer, class Combine>
  requires Combines<Combine, ElementOf<Buffer>>
  static ReduceCall with(Buffer&& buffer, const Combine& operation) {
    return {in_place<kOperation>(std::forward<Buffer>(buffer)), combining<ElementOf<Buffer>>(operation)};
  }
  /// By address, a vector of this layout; in reduce_scatter_block it is the layout of one rank's block.
  static ReduceCall with(const void* send, void* recv, const Layout& block, const Operator& operation) noexcept {
    return {between<kOperation>(send, recv, &block), operation};
  }
  /// In place, by address.
  static ReduceCall with(void* buffer, const Layout& block, const Operator& operation) noexcept {
    return {in_place<kOperation>(buffer, &block), operation};
  }
};

}  // namespace detail

/// fab::barrier(communicator): complete once all ranks have started it.
struct Barrier : Forms<Barrier> {
  /// A barrier has no arguments but the communicator.
  static detail::BlockCall with() noexcept { return {}; }
};
inline namespace operations {
inline constexpr Barrier barrier;  ///< @copydoc fab::Barrier
}

/// fab::bcast(communicator, buffer, root): the root's elements go to all ranks.
struct Bcast : Forms<Bcast> {
  /// The buffer has as many elements on all ranks. The root's is only read.
  template <RecvBuffer Buffer>
  static detail::BlockCall with(Buffer&& buffer, Root root = {}) {
    return {detail::in_place<detail::OperationName::bcast>(std::forward<Buffer>(buffer)), root};
  }
  /// By address, one block of this layout.
  static detail::BlockCall with(void* buffer, const Layout& block, Root root = {}) noexcept {
    return {detail::in_place<detail::OperationName::bcast>(buffer, &block), root};
  }
};
inline namespace operations {
inline constexpr Bcast bcast;  ///< @copydoc fab::Bcast
}

/// fab::reduce(communicator, send, recv, operation, root): combines element i of all ranks, in the order of ranks, into
/// element i of the root's `recv`. On other ranks `recv` may be empty. In place, the root's buffer is replaced, and the
/// buffers of other ranks are read. Some ranks may call in place and others not.
struct Reduce : Forms<Reduce> {
  /// @{
  /// Buffers, or addresses with the layout of a vector; between two, or in place.
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
  /// @}

 private:
  static constexpr auto kName = detail::OperationName::reduce;
};
inline namespace operations {
inline constexpr Reduce reduce;  ///< @copydoc fab::Reduce
}

/// fab::allreduce(communicator, send, recv, operation), fab::allreduce(communicator, buffer, operation): reduce with
/// the result on all ranks.
struct Allreduce : Forms<Allreduce>, detail::Combining<detail::OperationName::allreduce> {};
inline namespace operations {
inline constexpr Allreduce allreduce;  ///< @copydoc fab::Allreduce
}

}  // namespace fab
