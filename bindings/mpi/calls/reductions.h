// The operations on one vector, barrier, broadcast and reductions, as calls for three_forms.h.
#pragma once

#include <span>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/calls/repeating.h"
#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/datatypes/reduction.h"
#include "bindings/mpi/requests/exchange.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/calls/exchange_calls.h"
#include "collectives/start.h"

namespace fab::mpi {

/// Arguments of a reduction, but for how many elements there are.
struct Operands {
  const void* send;
  void* recv;
  MPI_Datatype type;
  MPI_Op op;

  [[nodiscard]] bool in_place() const noexcept { return send == MPI_IN_PLACE; }
  [[nodiscard]] Said said(Collective collective, int count, int root = 0) const noexcept {
    return {.kind = collectives::key_of(collective),
            .number = root,
            .send = {.buffer = send},
            .recv = {.buffer = recv, .count = count, .type = type},
            .op = op};
  }
};

/// Operands that were checked. What calls are made of refers to it.
struct CheckedReduction {
  CheckedReduction(const Operands& operands, Kept& kept) : reducer(reducer_of(operands.op, operands.type)) {
    kept = reducer.operation;
  }

  [[nodiscard]] const Layout& element() const noexcept { return reducer.element; }
  [[nodiscard]] Operator operation() const noexcept {
    return {reducer.reduction, reducer.element_bytes, reducer.commutative, reducer.user};
  }

  Reducer reducer;
};

// Throw Failure(MPI_ERR_BUFFER) for what is no buffer.
void check_send(const Operands& operands, const Layout& element, bool any);
void check_recv(const Operands& operands, const Layout& element, bool any);
/// Returns whether the call is in place. `receives`: recvbuf is significant.
[[nodiscard]] bool check_buffers(const Operands& operands, const Layout& element, bool any, bool receives = true);
/// Throws Failure(MPI_ERR_COUNT).
[[nodiscard]] std::size_t checked_count(std::string_view name, int count);
/// Throws Failure: MPI_ERR_ARG for a null pointer, MPI_ERR_COUNT.
[[nodiscard]] std::span<const int> counts_of_ranks(const core::Communicator& core, const int recvcounts[]);

/// A call on one element becomes one on many.
[[nodiscard]] collectives::CollectiveCall of_elements(collectives::CollectiveCall call, const Layout& element,
                                                      std::size_t count);

template <class Then>
decltype(auto) then_with(const Then& then, const Operands& operands, const collectives::CollectiveCall& call) {
  return then(call.in_place ? nullptr : operands.send, operands.recv, call);
}

inline auto barrier() {
  const auto describe = [](const core::Communicator&, Kept&, const auto& then) -> decltype(auto) {
    return then(nullptr, nullptr, collectives::barrier_call());
  };
  return Repeating(Said{.kind = collectives::key_of(Collective::barrier)}, describe);
}

inline auto bcast(void* buffer, int count, MPI_Datatype datatype, int root) {
  const auto describe = [=](const core::Communicator&, Kept&, const auto& then) -> decltype(auto) {
    const std::size_t elements = checked_count("", count);
    const Layout& element = layout_of(datatype);
    check_buffer({.name = "", .buffer = buffer, .type = datatype}, element, elements > 0);
    return then(nullptr, buffer, of_elements(collectives::bcast_call(element, root), element, elements));
  };
  return Repeating({.kind = collectives::key_of(Collective::bcast), .number = root, .recv = {buffer, count, datatype}},
                   describe);
}

inline auto reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root) {
  const Operands operands{sendbuf, recvbuf, datatype, op};
  const auto describe = [=](const core::Communicator& core, Kept& kept, const auto& then) -> decltype(auto) {
    const std::size_t elements = checked_count("", count);
    const CheckedReduction reduction(operands, kept);
    const bool in_place = check_buffers(operands, reduction.element(), elements > 0, core.rank() == root);
    const auto call = collectives::reduce_call(reduction.element(), reduction.operation(), root, in_place);
    return then_with(then, operands, of_elements(call, reduction.element(), elements));
  };
  return Repeating(operands.said(Collective::reduce, count, root), describe);
}

/// Of the collectives in which every rank gives a vector and gets one.
template <class MakeCall>
auto symmetric(Collective collective, MakeCall* make_call, const Operands& operands, int count) {
  const auto describe = [=](const core::Communicator&, Kept& kept, const auto& then) -> decltype(auto) {
    const std::size_t elements = checked_count("", count);
    const CheckedReduction reduction(operands, kept);
    const bool in_place = check_buffers(operands, reduction.element(), elements > 0);
    const auto call = make_call(reduction.element(), reduction.operation(), in_place);
    return then_with(then, operands, of_elements(call, reduction.element(), elements));
  };
  return Repeating(operands.said(collective, count), describe);
}

inline auto allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  return symmetric(Collective::allreduce, collectives::allreduce_call, {sendbuf, recvbuf, datatype, op}, count);
}

inline auto scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  return symmetric(Collective::scan, collectives::scan_call, {sendbuf, recvbuf, datatype, op}, count);
}

inline auto exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  return symmetric(Collective::exscan, collectives::exscan_call, {sendbuf, recvbuf, datatype, op}, count);
}

inline auto reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                           MPI_Op op) {
  const Operands operands{sendbuf, recvbuf, datatype, op};
  const auto describe = [=](const core::Communicator& core, Kept& kept, const auto& then) -> decltype(auto) {
    const CheckedReduction reduction(operands, kept);
    const auto call =
        collectives::reduce_scatter_call(reduction.element(), counts_of_ranks(core, recvcounts), reduction.operation(),
                                         core.rank(), core.size(), operands.in_place());
    if (!call.in_place) check_send(operands, reduction.element(), call.bytes > 0);
    check_recv(operands, reduction.element(), (call.in_place ? call.send : call.recv)[0].bytes() > 0);
    return then_with(then, operands, call);
  };
  const auto blocks = [](const core::Communicator& core) -> CountedBlocks {
    return {.recv = static_cast<std::size_t>(core.size())};
  };
  Said said = operands.said(Collective::reduce_scatter, 0);
  said.recv.counts = recvcounts;
  return RepeatingWithCounts(said, blocks, describe);
}

inline auto reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op) {
  const Operands operands{sendbuf, recvbuf, datatype, op};
  const auto describe = [=](const core::Communicator& core, Kept& kept, const auto& then) -> decltype(auto) {
    const std::size_t elements = checked_count("recv", recvcount);
    const CheckedReduction reduction(operands, kept);
    const bool in_place = check_buffers(operands, reduction.element(), elements > 0);
    auto call =
        collectives::reduce_scatter_block_call(reduction.element(), reduction.operation(), core.size(), in_place);
    call = of_elements(call, reduction.element(), elements * static_cast<std::size_t>(core.size()));
    call.recv = collectives::BlockList::regular(reduction.element(), elements, 1);
    return then_with(then, operands, call);
  };
  return Repeating(operands.said(Collective::reduce_scatter, recvcount), describe);
}

}  // namespace fab::mpi
