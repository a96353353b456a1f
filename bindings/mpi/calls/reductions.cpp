#include "bindings/mpi/calls/reductions.h"

namespace fab::mpi {

void check_send(const Operands& operands, const Layout& element, bool any) {
  check_buffer({.name = "send", .buffer = operands.send, .type = operands.type}, element, any);
}

void check_recv(const Operands& operands, const Layout& element, bool any) {
  check_buffer({.name = "recv", .buffer = operands.recv, .type = operands.type}, element, any);
}

bool check_buffers(const Operands& operands, const Layout& element, bool any, bool receives) {
  const bool in_place = receives && operands.in_place();
  if (!in_place) check_send(operands, element, any);
  if (receives) check_recv(operands, element, any);
  return in_place;
}

std::size_t checked_count(std::string_view name, int count) {
  check_count(name, count);
  return static_cast<std::size_t>(count);
}

std::span<const int> counts_of_ranks(const core::Communicator& core, const int recvcounts[]) {
  if (recvcounts == nullptr) throw Failure(MPI_ERR_ARG, "recvcounts is a null pointer");
  const std::span<const int> counts(recvcounts, static_cast<std::size_t>(core.size()));
  check_not_negative("recv", counts);
  return counts;
}

collectives::CollectiveCall of_elements(collectives::CollectiveCall call, const Layout& element, std::size_t count) {
  call.bytes = count * element.size();
  call.send = call.recv = collectives::BlockList::regular(element, count, 1);
  return call;
}

}  // namespace fab::mpi
