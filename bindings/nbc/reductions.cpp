// The operations on one vector: barrier, broadcast, reductions.
#include <span>

#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/datatypes/reduction.h"
#include "bindings/nbc/starting.h"
#include "collectives/exchange_calls.h"

namespace fab::nbc {

namespace {

/// Arguments of a reduction, but for how many elements there are.
struct Operands {
  const void* send;
  void* recv;
  MPI_Datatype type;
  MPI_Op op;
};

/// The same, looked at. What calls are made of refers to it.
struct Reduction {
  Reduction(const Operands& operands, Kept& kept) : reducer(mpi::reducer_of(operands.op, operands.type)) {
    kept = reducer.operation;
  }

  [[nodiscard]] const Layout& element() const noexcept { return reducer.element; }
  [[nodiscard]] Operator operation() const noexcept {
    return {reducer.reduction, reducer.element_bytes, reducer.commutative, reducer.user};
  }

  mpi::Reducer reducer;
};

bool is_in_place(const Operands& operands) noexcept { return operands.send == MPI_IN_PLACE; }

void check_send(const Operands& operands, const Layout& element, bool any) {
  mpi::check_buffer({.name = "send", .buffer = operands.send, .type = operands.type}, element, any);
}

void check_recv(const Operands& operands, const Layout& element, bool any) {
  mpi::check_buffer({.name = "recv", .buffer = operands.recv, .type = operands.type}, element, any);
}

/// Throws for what is no buffer; returns whether the call is in place. `receives`: recvbuf is significant.
bool check_buffers(const Operands& operands, const Layout& element, bool any, bool receives = true) {
  const bool in_place = receives && is_in_place(operands);
  if (!in_place) check_send(operands, element, any);
  if (receives) check_recv(operands, element, any);
  return in_place;
}

std::size_t checked(std::string_view name, int count) {
  mpi::check_count(name, count);
  return static_cast<std::size_t>(count);
}

/// A call on one element becomes one on many.
CollectiveCall of_elements(CollectiveCall call, const Layout& element, std::size_t count) {
  call.bytes = count * element.size();
  call.send = call.recv = BlockList::regular(element, count, 1);
  return call;
}

core::Run& start_on(core::Communicator& core, const Operands& operands, const CollectiveCall& call) {
  return start_call(core, call.in_place ? nullptr : operands.send, operands.recv, call);
}

using PrefixCall = CollectiveCall(const Layout&, const Operator&, bool);

/// Of the collectives in which every rank gives a vector and gets one.
int begin_symmetric(const char* name, PrefixCall* make_call, const Operands& operands, int count, MPI_Comm comm,
                    NBC_Handle* handle) noexcept {
  return begin(name, comm, handle, [&](core::Communicator& core, Kept& kept) -> core::Run& {
    const std::size_t elements = checked("", count);
    const Reduction reduction(operands, kept);
    const bool in_place = check_buffers(operands, reduction.element(), elements > 0);
    const CollectiveCall call = make_call(reduction.element(), reduction.operation(), in_place);
    return start_on(core, operands, of_elements(call, reduction.element(), elements));
  });
}

std::span<const int> counts_of(const core::Communicator& core, const int counts[]) {
  if (counts == nullptr) throw Failure(MPI_ERR_ARG, "recvcounts is a null pointer");
  return {counts, ranks_of(core)};
}

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;
namespace core = fab::core;
namespace collectives = fab::collectives;

int NBC_Ibarrier(MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ibarrier", comm, handle, [](core::Communicator& core, Kept&) -> core::Run& {
    return start_call(core, nullptr, nullptr, collectives::barrier_call());
  });
}

int NBC_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ibcast", comm, handle, [&](core::Communicator& core, Kept&) -> core::Run& {
    const std::size_t elements = checked("", count);
    const fab::Layout& element = fab::mpi::layout_of(datatype);
    fab::mpi::check_buffer({.name = "", .buffer = buffer, .type = datatype}, element, elements > 0);
    return start_call(core, nullptr, buffer, of_elements(collectives::bcast_call(element, root), element, elements));
  });
}

int NBC_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ireduce", comm, handle, [&](core::Communicator& core, Kept& kept) -> core::Run& {
    const Operands operands{sendbuf, recvbuf, datatype, op};
    const std::size_t elements = checked("", count);
    const Reduction reduction(operands, kept);
    const bool in_place = check_buffers(operands, reduction.element(), elements > 0, core.rank() == root);
    const CollectiveCall call = collectives::reduce_call(reduction.element(), reduction.operation(), root, in_place);
    return start_on(core, operands, of_elements(call, reduction.element(), elements));
  });
}

int NBC_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   NBC_Handle* handle) {
  return begin_symmetric("NBC_Iallreduce", collectives::allreduce_call, {sendbuf, recvbuf, datatype, op}, count, comm,
                         handle);
}

int NBC_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              NBC_Handle* handle) {
  return begin_symmetric("NBC_Iscan", collectives::scan_call, {sendbuf, recvbuf, datatype, op}, count, comm, handle);
}

int NBC_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                NBC_Handle* handle) {
  return begin_symmetric("NBC_Iexscan", collectives::exscan_call, {sendbuf, recvbuf, datatype, op}, count, comm,
                         handle);
}

int NBC_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ireduce_scatter", comm, handle, [&](core::Communicator& core, Kept& kept) -> core::Run& {
    const Operands operands{sendbuf, recvbuf, datatype, op};
    const Reduction reduction(operands, kept);
    const CollectiveCall call =
        collectives::reduce_scatter_call(reduction.element(), counts_of(core, recvcounts), reduction.operation(),
                                         core.rank(), core.size(), is_in_place(operands));
    if (!call.in_place) check_send(operands, reduction.element(), call.bytes > 0);
    check_recv(operands, reduction.element(), (call.in_place ? call.send : call.recv)[0].bytes() > 0);
    return start_on(core, operands, call);
  });
}

int NBC_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ireduce_scatter_block", comm, handle, [&](core::Communicator& core, Kept& kept) -> core::Run& {
    const Operands operands{sendbuf, recvbuf, datatype, op};
    const std::size_t elements = checked("recv", recvcount);
    const Reduction reduction(operands, kept);
    const bool in_place = check_buffers(operands, reduction.element(), elements > 0);
    CollectiveCall call =
        collectives::reduce_scatter_block_call(reduction.element(), reduction.operation(), core.size(), in_place);
    call = of_elements(call, reduction.element(), elements * ranks_of(core));
    call.recv = BlockList::regular(reduction.element(), elements, 1);
    return start_on(core, operands, call);
  });
}
