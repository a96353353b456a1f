// Operations and their forms. Each exchange and each collective is one object, and every object has the same forms:
//
//     fab::allreduce(world, sums, fab::ReduceOp::sum);                 // blocking: returns when it is complete
//     fab::Request request = fab::allreduce.start(world, sums, ...);   // returns at once; request.wait() completes it
//     auto exchange = fab::allreduce.persistent(world, sums, ...);     // made once; exchange.start() and .wait() often
//
// and without exceptions .try_perform, .try_start and .try_persistent. All forms take the same arguments: a
// communicator, then what one of the object's `with` functions takes, of which there are up to four:
//
//     (send, recv, ...)            buffers (fab/buffer.h), from which type and number of elements are deduced
//     (buffer, ...)                in place: what is in the buffer is sent, and replaced
//     (send, recv, layout, ...)    addresses, and the layout of a block (fab/layout.h)
//     (buffer, layout, ...)        the same in place
//
// How a call gets to the core: `with` makes of its arguments a BlockCall, ReduceCall, BlocksCall or ShiftCall, inline
// and without memory of its own. One function of libfab for each of these and each form looks at the sizes, and starts
// the operation (bindings/native/performing.h). Nothing else is inline, so whatever the element type, the library is
// the same. Arguments are refused inside: a call that is refused uses up its place in the order of calls.
//
// The objects are in an inline namespace, so that parameters and enumerators of the same names, in namespace fab too,
// hide nothing that compilers warn of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "fab/blocks.h"
#include "fab/buffer.h"
#include "fab/communicator.h"
#include "fab/layout.h"
#include "fab/operator.h"
#include "fab/persistent.h"
#include "fab/request.h"
#include "fab/result.h"

namespace fab {

/// The rank that a rooted operation sends from, or brings its result to. Rank 0 unless it is given.
struct Root {
  Rank rank = 0;
};

/// How far, and along which dimension of a Cartesian communicator, blocks are shifted.
struct Shift {
  int dimension = 0;
  int displacement = 0;  ///< any integer; what leaves a periodic dimension comes in again
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

/// The buffers of a call, in one of two ways: element_bytes > 0, and the number of elements of each; or element_bytes
/// == 0, and the layout of a block. In place: `recv` alone.
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

/// Operations on equal blocks.
struct BlockCall : CallBuffers {
  Root root{};
};

/// Operations that combine elements.
struct ReduceCall : CallBuffers {
  Operator combine{};
  Root root{};
  Integers counts{};  ///< reduce_scatter
};

/// Operations on blocks of different sizes. Of gatherv, scatterv, allgatherv and neighbor_allgatherv one side is a
/// single block.
struct BlocksCall : CallBuffers {
  const Blocks* send_blocks = nullptr;
  const Blocks* recv_blocks = nullptr;
  Root root{};
};

struct ShiftCall : CallBuffers {
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

// What libfab has for each kind of call.
template <class Call>
void perform(const Communicator& communicator, const Call& call);
template <class Call>
[[nodiscard]] Request start(const Communicator& communicator, const Call& call);
template <class Call>
[[nodiscard]] PersistentExchange persistent(const Communicator& communicator, const Call& call);
template <class Call>
[[nodiscard]] Status try_perform(const Communicator& communicator, const Call& call) noexcept;
template <class Call>
[[nodiscard]] Result<Request> try_start(const Communicator& communicator, const Call& call) noexcept;
template <class Call>
[[nodiscard]] Result<PersistentExchange> try_persistent(const Communicator& communicator, const Call& call) noexcept;

template <class Operation, class... Arguments>
concept Takes = requires(Arguments&&... arguments) {
  Operation::with(std::forward<Arguments>(arguments)...);
};

}  // namespace detail

/// The forms of an operation, which says with its `with` functions what they take.
template <class Operation>
struct Forms {
  /// Returns when the operation is complete. Throws what the operation's header says.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  void operator()(const Communicator& communicator, Arguments&&... arguments) const {
    detail::perform(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  /// Returns at once; a progress thread completes the operation while the caller computes. The buffers belong to the
  /// operation until then. Throws for arguments that are refused; all else the request's wait throws.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Request start(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::start(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  /// Makes what can be started again and again with these buffers. All ranks make theirs in the same order.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] PersistentExchange persistent(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::persistent(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }

  // The same without exceptions.
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Status try_perform(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::try_perform(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Result<Request> try_start(const Communicator& communicator, Arguments&&... arguments) const {
    return detail::try_start(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments>
  requires detail::Takes<Operation, Arguments...>
  [[nodiscard]] Result<PersistentExchange> try_persistent(const Communicator& communicator,
                                                          Arguments&&... arguments) const {
    return detail::try_persistent(communicator, Operation::with(std::forward<Arguments>(arguments)...));
  }
};

}  // namespace fab
