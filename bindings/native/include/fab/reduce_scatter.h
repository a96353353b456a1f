// Reduce-scatter: the vectors of all ranks are combined, and each rank gets its part of the result (MPI-4.1, section
// 6.10). The rules of fab/collectives.h hold.
#pragma once

#include "fab/collectives.h"

namespace fab {

/// fab::reduce_scatter_block(communicator, send, recv, operation): a vector has one block per rank, and rank i gets
/// block i of the result. In place, the result goes to the beginning of the buffer; the rest stays as it is.
struct ReduceScatterBlock : Forms<ReduceScatterBlock>,
                            detail::Combining<detail::OperationName::reduce_scatter_block> {};
inline namespace operations {
inline constexpr ReduceScatterBlock reduce_scatter_block;  ///< @copydoc fab::ReduceScatterBlock
}

/// fab::reduce_scatter(communicator, send, recv, counts, operation): rank i gets counts[i] elements. All ranks give the
/// same counts. In place, as above. Throws Error(invalid_argument) for another number of counts than ranks,
/// Error(invalid_count) for counts below 0 and for buffers of another size.
struct ReduceScatter : Forms<ReduceScatter> {
  /// `send` has as many elements as all counts add up to, `recv` as many as this rank's.
  template <class Send, class Recv, class Combine>
  requires BufferPair<Send, Recv> && detail::Combines<Combine, ElementOf<Send>>
  static detail::ReduceCall with(Send&& send, Recv&& recv, Integers counts, const Combine& operation) {
    return {detail::between<kName>(std::forward<Send>(send), std::forward<Recv>(recv)),
            detail::combining<ElementOf<Send>>(operation),
            {},
            counts};
  }
  /// In place: the buffer has the elements of all ranks.
  template <RecvBuffer Buffer, class Combine>
  requires detail::Combines<Combine, ElementOf<Buffer>>
  static detail::ReduceCall with(Buffer&& buffer, Integers counts, const Combine& operation) {
    return {detail::in_place<kName>(std::forward<Buffer>(buffer)),
            detail::combining<ElementOf<Buffer>>(operation),
            {},
            counts};
  }
  /// A vector is a row of elements of this layout.
  static detail::ReduceCall with(const void* send, void* recv, const Layout& element, Integers counts,
                                 const Operator& operation) noexcept {
    return {detail::between<kName>(send, recv, &element), operation, {}, counts};
  }
  /// In place, by address.
  static detail::ReduceCall with(void* buffer, const Layout& element, Integers counts,
                                 const Operator& operation) noexcept {
    return {detail::in_place<kName>(buffer, &element), operation, {}, counts};
  }

 private:
  static constexpr auto kName = detail::OperationName::reduce_scatter;
};
inline namespace operations {
inline constexpr ReduceScatter reduce_scatter;  ///< @copydoc fab::ReduceScatter
}

}  // namespace fab
