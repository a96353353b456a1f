// Operations of the C API: converts a C program's fab_operation to a call of the C++ API.
#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

#include "bindings/native/base/access.h"
#include "bindings/native/c/handles.h"
#include "bindings/native/operations/operation_sizes.h"
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
                            OperationName::neighbor_alltoallv,
                            OperationName::gatherv,
                            OperationName::scatterv,
                            OperationName::reduce_scatter,
                            OperationName::neighbor_allgatherv};
static_assert(kNames.size() == FAB_OP_NEIGHBOR_ALLGATHERV + 1);

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
    case FAB_OP_REDUCE_SCATTER:
    case FAB_OP_REDUCE_SCATTER_BLOCK:
    case FAB_OP_SCAN:
    case FAB_OP_EXSCAN:
      return true;
    default:
      return false;
  }
}

bool lists_blocks(fab_operation_name name) {
  switch (name) {
    case FAB_OP_GATHERV:
    case FAB_OP_SCATTERV:
    case FAB_OP_ALLGATHERV:
    case FAB_OP_ALLTOALLV:
    case FAB_OP_NEIGHBOR_XCHGV:
    case FAB_OP_NEIGHBOR_ALLGATHERV:
    case FAB_OP_NEIGHBOR_ALLTOALLV:
      return true;
    default:
      return false;
  }
}

/// Throws an error whose text begins with the operation's name.
template <class... Values>
[[noreturn]] void refuse(const fab_operation& operation, Errc error, fmt::format_string<Values...> text,
                         Values&&... values) {
  throw Error(error, fmt::format("{}: {}", native::name_of(entry(kNames, operation.name, "name")),
                                 fmt::format(text, std::forward<Values>(values)...)));
}

/// How many blocks of different sizes an operation has on either side. 0 stands also for a side that is one block.
struct BlockNumbers {
  std::size_t send = 0;
  std::size_t recv = 0;
};

BlockNumbers numbers_of(const Communicator& communicator, const fab_operation& operation) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const std::size_t at_root = communicator.rank() == operation.root ? ranks : 0;
  switch (operation.name) {
    case FAB_OP_GATHERV:
      return {0, at_root};
    case FAB_OP_SCATTERV:
      return {at_root, 0};
    case FAB_OP_ALLGATHERV:
      return {0, ranks};
    case FAB_OP_NEIGHBOR_XCHGV: {
      const Neighborhood& edges = communicator.neighborhood();
      return {edges.destinations.size(), edges.sources.size()};
    }
    case FAB_OP_NEIGHBOR_ALLGATHERV:
      return {0, neighbor_slots(communicator).sources};
    case FAB_OP_NEIGHBOR_ALLTOALLV: {
      const NeighborSlots slots = neighbor_slots(communicator);
      return {slots.destinations, slots.sources};
    }
    default:
      return {ranks, ranks};
  }
}

/// A caller's array of counts or displacements.
Integers integers(const fab_operation& operation, const std::int64_t* first, std::size_t numbers, const char* member) {
  if (numbers > 0 && first == nullptr)
    refuse(operation, Errc::invalid_argument, "{} is a null pointer; valid is an array of {} numbers", member, numbers);
  return {first, numbers};
}

Blocks send_blocks(const fab_operation& operation, const Layout& element, std::size_t blocks) {
  return {element, integers(operation, operation.send_counts, blocks, "send_counts"),
          integers(operation, operation.send_displacements, blocks, "send_displacements")};
}
Blocks recv_blocks(const fab_operation& operation, const Layout& element, std::size_t blocks) {
  return {element, integers(operation, operation.recv_counts, blocks, "recv_counts"),
          integers(operation, operation.recv_displacements, blocks, "recv_displacements")};
}

/// The counts of a reduce_scatter. Counts below 0 are refused later.
Integers part_counts(const fab_operation& operation, std::size_t ranks, std::size_t element_bytes) {
  const Integers counts = integers(operation, operation.recv_counts, ranks, "recv_counts");
  std::size_t left = PTRDIFF_MAX / element_bytes;
  for (std::size_t i = 0; i < ranks && counts[i] >= 0; ++i) {
    const auto count = static_cast<std::size_t>(counts[i]);
    if (count > left)
      refuse(operation, Errc::invalid_count, "recv_counts[{}] is {}; valid are 0 to {} after the counts before it", i,
             count, left);
    left -= count;
  }
  return counts;
}

/// `count` elements, one after another.
Layout row_of(const fab_operation& operation, std::size_t element_bytes) {
  const std::size_t most = PTRDIFF_MAX / element_bytes;
  if (operation.count > most)
    refuse(operation, Errc::invalid_count, "count is {}; valid are 0 to {}", operation.count, most);
  return Layout::contiguous(operation.count * element_bytes);
}

void check_in_place(const fab_operation& operation) {
  const bool has_no_place = operation.name == FAB_OP_NEIGHBOR_ALLGATHER || operation.name == FAB_OP_NEIGHBOR_ALLGATHERV;
  if (has_no_place && operation.send == FAB_IN_PLACE)
    refuse(operation, Errc::invalid_argument,
           "send is FAB_IN_PLACE; valid is the address of a block, as the receive buffer has no block of the rank's "
           "own");
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

/// In blocks of different sizes. In place, the blocks of a scatterv are what the root sends.
template <class Form>
auto blocks_in_form(const Communicator& communicator, const fab_operation& operation, std::size_t element_bytes,
                    Form&& form) {
  const Layout element = Layout::contiguous(element_bytes);
  const bool in_place = operation.send == FAB_IN_PLACE;
  const bool scatters = operation.name == FAB_OP_SCATTERV;
  const Layout own = in_place ? element : row_of(operation, element_bytes);
  auto call = call_of<detail::BlocksCall>(operation, &own);
  if (scatters && in_place) call.send = std::exchange(call.recv, nullptr);
  call.root = {operation.root};
  const BlockNumbers numbers = numbers_of(communicator, operation);
  const Blocks recv = recv_blocks(operation, element, numbers.recv);
  const Blocks send = in_place && !scatters ? Blocks() : send_blocks(operation, element, numbers.send);
  call.recv_blocks = &recv;
  call.send_blocks = &send;
  return form(communicator, call);
}

template <class Form>
auto combining_in_form(const Communicator& communicator, const fab_operation& operation, ElementType type,
                       Form&& form) {
  const std::size_t bytes = element_bytes(type);
  const bool counts = operation.name == FAB_OP_REDUCE_SCATTER;
  const Layout layout = counts ? Layout::contiguous(bytes) : row_of(operation, bytes);
  auto call = call_of<detail::ReduceCall>(operation, &layout);
  const ReduceOp op = entry(kOperations, operation.op, "op");
  call.combine = {.reduction = {op, type}, .element_bytes = bytes, .commutative = commutes(op)};
  call.root = {operation.root};
  if (counts) call.counts = part_counts(operation, static_cast<std::size_t>(communicator.size()), bytes);
  return form(communicator, call);
}

/// Gives `form` the call that a C program means.
template <class Form>
auto in_form(const Communicator& communicator, const fab_operation& operation, Form&& form) {
  const ElementType type = entry(kTypes, operation.type, "type");
  const std::size_t bytes = element_bytes(type);
  check_in_place(operation);
  if (lists_blocks(operation.name)) return blocks_in_form(communicator, operation, bytes, form);
  if (combines(operation.name)) return combining_in_form(communicator, operation, type, form);
  const Layout block = row_of(operation, bytes);
  if (operation.name == FAB_OP_CART_SHIFT_XCHG) {
    auto call = call_of<detail::ShiftCall>(operation, &block);
    call.shift = {Dimension{operation.dimension}, operation.displacement};
    return form(communicator, call);
  }
  auto call = call_of<detail::BlockCall>(operation, &block);
  call.root = {operation.root};
  return form(communicator, call);
}

/// The form of the operation, once `check` takes what else the program has given. A description that is refused uses up
/// its place, as a call does whose arguments are refused (core/communicator/refused_call.h).
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
