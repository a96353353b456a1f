// Operations of the C API: converts a C program's fab_operation to a call of the C++ API.
#include <array>
#include <optional>
#include <utility>

#include "bindings/native/access.h"
#include "bindings/native/c_handles.h"
#include "core/communicator/communicator.h"
#include "fab/neighbor_collectives.h"
#include "fab/operation.h"

namespace fab::c {

namespace {

using detail::OperationName;
using Order = core::Communicator::Order;

constexpr std::array kTypes{ElementType::byte,
                            ElementType::int8,
                            ElementType::int16,
                            ElementType::int32,
                            ElementType::int64,
                            ElementType::uint8,
                            ElementType::uint16,
                            ElementType::uint32,
                            ElementType::uint64,
                            ElementType::float32,
                            ElementType::float64,
                            ElementType::long_double,
                            ElementType::float32_complex,
                            ElementType::float64_complex,
                            ElementType::logical8};
static_assert(kTypes.size() == FAB_BOOL + 1);

constexpr std::array kOperations{ReduceOp::sum,         ReduceOp::product,    ReduceOp::min,         ReduceOp::max,
                                 ReduceOp::logical_and, ReduceOp::logical_or, ReduceOp::logical_xor, ReduceOp::bit_and,
                                 ReduceOp::bit_or,      ReduceOp::bit_xor};
static_assert(kOperations.size() == FAB_BIT_XOR + 1);

constexpr std::array kNames{OperationName::barrier,
                            OperationName::bcast,
                            OperationName::reduce,
                            OperationName::allreduce,
                            OperationName::gather,
                            OperationName::scatter,
                            OperationName::allgather,
                            OperationName::allgatherv,
                            OperationName::alltoall,
                            OperationName::alltoallv,
                            OperationName::reduce_scatter_block,
                            OperationName::scan,
                            OperationName::exscan,
                            OperationName::neighbor_xchg,
                            OperationName::neighbor_xchgv,
                            OperationName::cart_shift_xchg,
                            OperationName::neighbor_allgather,
                            OperationName::neighbor_alltoall,
                            OperationName::neighbor_alltoallv};
static_assert(kNames.size() == FAB_OP_NEIGHBOR_ALLTOALLV + 1);

template <class Table>
auto entry(const Table& table, int index, const char* member) {
  if (index < 0 || static_cast<std::size_t>(index) >= table.size())
    throw Error(Errc::invalid_argument, std::string("operation.") + member + " is " + std::to_string(index) +
                                            "; valid are 0 to " + std::to_string(table.size() - 1));
  return table[static_cast<std::size_t>(index)];
}

bool combines(fab_operation_name name) {
  switch (name) {
    case FAB_OP_REDUCE:
    case FAB_OP_ALLREDUCE:
    case FAB_OP_REDUCE_SCATTER_BLOCK:
    case FAB_OP_SCAN:
    case FAB_OP_EXSCAN:
      return true;
    default:
      return false;
  }
}

/// How many blocks of different sizes an operation has on either side.
struct BlockNumbers {
  std::size_t send = 0;
  std::size_t recv = 0;
};

BlockNumbers numbers_of(const Communicator& communicator, fab_operation_name name) {
  switch (name) {
    case FAB_OP_NEIGHBOR_XCHGV: {
      const Neighborhood& edges = communicator.neighborhood();
      return {edges.destinations.size(), edges.sources.size()};
    }
    case FAB_OP_NEIGHBOR_ALLTOALLV: {
      const NeighborSlots slots = neighbor_slots(communicator);
      return {slots.destinations, slots.sources};
    }
    default: {
      const auto ranks = static_cast<std::size_t>(communicator.size());
      return {ranks, ranks};
    }
  }
}

Blocks blocks_of(const Layout& element, const std::int64_t* counts, const std::int64_t* displacements,
                 std::size_t blocks, const char* side) {
  if (blocks > 0 && (counts == nullptr || displacements == nullptr))
    throw Error(Errc::invalid_argument,
                std::string("operation.") + side + "_counts or " + side + "_displacements is a null pointer");
  return {element, Integers(counts, blocks), Integers(displacements, blocks)};
}

template <class Call>
Call call_of(const fab_operation& operation, const Layout* layout) {
  Call call;
  call.operation = entry(kNames, operation.name, "name");
  call.in_place = operation.send == FAB_IN_PLACE;
  call.send = call.in_place ? nullptr : operation.send;
  call.recv = operation.recv;
  call.layout = layout;
  return call;
}

template <class Form>
auto blocks_in_form(const Communicator& communicator, const fab_operation& operation, const Layout& element,
                    Form&& form) {
  const bool gathers = operation.name == FAB_OP_ALLGATHERV;
  const Layout own = element.repeated(operation.count);
  auto call = call_of<detail::BlocksCall>(operation, &own);
  const BlockNumbers numbers = numbers_of(communicator, operation.name);
  const Blocks recv = blocks_of(element, operation.recv_counts, operation.recv_displacements, numbers.recv, "recv");
  call.recv_blocks = &recv;
  if (call.in_place || gathers) return form(communicator, call);
  const Blocks send = blocks_of(element, operation.send_counts, operation.send_displacements, numbers.send, "send");
  call.send_blocks = &send;
  return form(communicator, call);
}

/// Gives `form` the call that a C program means.
template <class Form>
auto in_form(const Communicator& communicator, const fab_operation& operation, Form&& form) {
  const ElementType type = entry(kTypes, operation.type, "type");
  const std::size_t bytes = element_bytes(type);
  switch (operation.name) {
    case FAB_OP_ALLGATHERV:
    case FAB_OP_ALLTOALLV:
    case FAB_OP_NEIGHBOR_XCHGV:
    case FAB_OP_NEIGHBOR_ALLTOALLV:
      return blocks_in_form(communicator, operation, Layout::contiguous(bytes), form);
    default:
      break;
  }
  if (operation.count > PTRDIFF_MAX / bytes)
    throw Error(Errc::invalid_count,
                "operation.count is " + std::to_string(operation.count) + "; valid is what fits " + "into memory");
  const Layout block = Layout::contiguous(operation.count * bytes);
  if (operation.name == FAB_OP_CART_SHIFT_XCHG) {
    auto call = call_of<detail::ShiftCall>(operation, &block);
    call.shift = {Dimension{operation.dimension}, operation.displacement};
    return form(communicator, call);
  }
  if (combines(operation.name)) {
    auto call = call_of<detail::ReduceCall>(operation, &block);
    call.combine = {.reduction = {entry(kOperations, operation.op, "op"), type}, .element_bytes = bytes};
    call.root = {operation.root};
    return form(communicator, call);
  }
  auto call = call_of<detail::BlockCall>(operation, &block);
  call.root = {operation.root};
  return form(communicator, call);
}

/// The same, once `check` takes what else the program has given. A description that is refused uses up its place, as a
/// call does whose arguments are refused (core/communicator/refused_call.h).
template <class Check, class Form>
auto in_form(const fab_comm* comm, const fab_operation& operation, Order order, Check&& check, Form&& form) {
  const Communicator& communicator = given(comm, "comm").communicator;
  bool described = false;
  try {
    check();
    return in_form(communicator, operation, [&](const auto& its_communicator, const auto& call) {
      described = true;
      return form(its_communicator, call);
    });
  } catch (...) {
    if (!described) Access::core(communicator)->call_refused(order);
    throw;
  }
}

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_perform(const fab_comm* comm, fab_operation operation) {
  return guarded([&] {
    in_form(
        comm, operation, Order::calls, [] {},
        [](const auto& communicator, const auto& call) { detail::perform(communicator, call); });
  });
}

fab_error fab_start(const fab_comm* comm, fab_operation operation, fab_request* request) {
  return guarded([&] {
    put(request, in_form(
                     comm, operation, Order::calls, [request] { check_idle(request); },
                     [](const auto& communicator, const auto& call) { return detail::start(communicator, call); }));
  });
}

fab_error fab_make_persistent(const fab_comm* comm, fab_operation operation, fab_exchange** made) {
  return guarded([&] {
    PersistentExchange exchange = in_form(
        comm, operation, Order::persistent, [made] { static_cast<void>(given(made, "made")); },
        [](const auto& communicator, const auto& call) { return detail::persistent(communicator, call); });
    *made = new fab_exchange{std::move(exchange)};
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
