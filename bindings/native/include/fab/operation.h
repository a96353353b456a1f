// Operations and their forms. Each exchange and each collective is one object, and every object has the same forms:
//
//     fab::allreduce(world, sums, fab::ReduceOp::sum);                 // blocking: returns when it is complete
//     fab::Request request = fab::allreduce.start(world, sums, ...);   // returns at once; request.wait() completes it
//     auto exchange = fab::allreduce.persistent(world, sums, ...);     // made once; exchange.start() and .wait() often
//
// The forms without exceptions are .try_perform, .try_start and .try_persistent. All forms take the same arguments: a
// communicator, then the arguments of one of the object's `with` functions, of which there are up to four:
//
//     (send, recv, ...)            buffers (fab/buffer.h), from which type and number of elements are deduced
//     (buffer, ...)                in place: the contents of the buffer are sent, and replaced
//     (send, recv, layout, ...)    addresses, and the layout of a block (fab/layout.h)
//     (buffer, layout, ...)        the same in place
//
// How a call reaches the core: `with` turns its arguments into a BlockCall, ReduceCall, BlocksCall or ShiftCall, inline
// and without allocating. libfab has one function for each of these and each form. It checks the sizes and starts
// the operation (bindings/native/operations/performing.h). Nothing else is inline, so the library is the same for all
// element types. The core checks arguments: a call that is refused still takes its place in the order of calls.
//
// The objects are in an inline namespace. So parameters and enumerators of the same names, also in namespace fab, do
// not shadow them, and compilers do not warn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "fab/api.h"
#include "fab/blocks.h"
#include "fab/buffer.h"
#include "fab/communicator.h"
#include "fab/layout.h"
#include "fab/operator.h"
#include "fab/persistent.h"
#include "fab/request.h"
#include "fab/result.h"

namespace fab {

/// The root of an operation: the rank that sends, or that gets the result. Rank 0 by default.
struct Root {
  Rank rank = 0;  ///< of the communicator
};

/// The dimension of a Cartesian communicator along which blocks are shifted, and by how many places.
struct Shift {
  Dimension dimension{};  ///< 0 to the grid's dimensions() - 1
  int displacement = 0;   ///< any integer; periodic dimensions wrap
};

namespace detail {

template <>
inline constexpr bool kIsArgument<Root> = true;
template <>
inline constexpr bool kIsArgument<Shift> = true;

enum class OperationName : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  neighbor_xchg,
  neighbor_xchgv,
  cart_shift_xchg,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv
};

/// The buffers of a call, given in one of two ways: element_bytes > 0 with the number of elements of each buffer, or
/// element_bytes == 0 with the layout of a block. In place: `recv` alone.
struct CallBuffers {
  OperationName operation = OperationName::barrier;
  bool in_place = false;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t element_bytes = 0;
  std::size_t send_elements = 0;
  std::size_t recv_elements = 0;
  const Layout* layout = nullptr;
};

/// A call of an operation on blocks of equal size.
struct FAB_API BlockCall : CallBuffers {
  Root root{};
};

/// A call of an operation that combines elements.
struct FAB_API ReduceCall : CallBuffers {
  Operator combine{};
  Root root{};
  Integers counts{};  ///< reduce_scatter
};

/// A call of an operation on blocks of different sizes. In gatherv, scatterv, allgatherv and neighbor_allgatherv one
/// side is a single block.
struct FAB_API BlocksCall : CallBuffers {
  const Blocks* send_blocks = nullptr;
  const Blocks* recv_blocks = nullptr;
  Root root{};
};

struct FAB_API ShiftCall : CallBuffers {
  Shift shift{};
};

template <OperationName kOperation, class Send, class Recv>
requires BufferPair<Send, Recv>
[[nodiscard]] CallBuffers between(Send&& send, Recv&& recv) {
  const auto from = elements_of(std::forward<Send>(send));
  const auto to = elements_of(std::forward<Recv>(recv));
  return {.operation = kOperation,
          .send = from.data(),
          .recv = to.data(),
          .element_bytes = sizeof(ElementOf<Send>),
          .send_elements = from.size(),
          .recv_elements = to.size()};
}
template <OperationName kOperation, RecvBuffer Buffer>
[[nodiscard]] CallBuffers in_place(Buffer&& buffer) {
  const auto to = elements_of(std::forward<Buffer>(buffer));
  return {.operation = kOperation,
          .in_place = true,
          .recv = to.data(),
          .element_bytes = sizeof(ElementOf<Buffer>),
          .recv_elements = to.size()};
}
template <OperationName kOperation>
[[nodiscard]] CallBuffers between(const void* send, void* recv, const Layout* layout) noexcept {
  return {.operation = kOperation, .send = send, .recv = recv, .layout = layout};
}
template <OperationName kOperation>
[[nodiscard]] CallBuffers in_place(void* buffer, const Layout* layout) noexcept {
  return {.operation = kOperation, .in_place = true, .recv = buffer, .layout = layout};
}

// The functions of libfab for each kind of call.
template <class Call>
FAB_API void perform(const Communicator& communicator, const Call& call);
template <class Call>
[[nodiscard]] FAB_API Request start(const Communicator& communicator, const Call& call);
template <class Call>
[[nodiscard]] FAB_API PersistentExchange persistent(const Communicator& communicator, const Call& call);
template <class Call>
[[nodiscard]] FAB_API Status try_perform(const Communicator& communicator, const Call& call) noexcept;
template <class Call>
[[nodiscard]] FAB_API Result<Request> try_start(const Communicator& communicator, const Call& call) noexcept;
template <class Call>
[[nodiscard]] FAB_API Result<PersistentExchange> try_persistent(const Communicator& communicator,
                                                                const Call& call) noexcept;

template <class Operation, class... Arguments>
concept Takes = requires(Arguments&&... arguments) {
  Operation::with(std::forward<Arguments>(arguments)...);
};

}  // namespace detail

/// The forms of an operation. Its `with` functions define their arguments.
template <class Operation>
struct Forms {
  /// Returns when the operation is complete. Throws the errors that the operation's header lists.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  void operator()(const Communicator& communicator, Arguments&&... arguments) const {
    detail::perform(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  /// Returns at once. A progress thread completes the operation while the caller computes. The buffers belong to the
  /// operation until it is complete. Throws for arguments that are refused; the request's wait throws all other errors.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Request start(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::start(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  /// Makes an exchange that can be started many times with these buffers. All ranks make theirs in the same order.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] PersistentExchange persistent(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::persistent(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }

  // The forms above without exceptions.

  /// operator() without exceptions: returns the failure that it throws.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Status try_perform(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::try_perform(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  /// start without exceptions.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Result<Request> try_start(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::try_start(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  /// persistent without exceptions.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Result<PersistentExchange> try_persistent(const Communicator& communicator,
                                                          Arguments&&... arguments) const {
    return detail::try_persistent(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
};

}  // namespace fab
