#include "bindings/native/operations/null_buffers.h"

#include <fmt/core.h>

#include "bindings/native/operations/operation_sizes.h"

namespace fab::native {

using collectives::BlockList;
using collectives::BlockView;
using collectives::CollectiveCall;

namespace {

bool combines(Collective collective) noexcept {
  switch (collective) {
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::scan:
    case Collective::exscan:
      return true;
    default:
      return false;
  }
}

const char* name_of(const CallBuffers& call, Side side) noexcept {
  if (call.in_place || call.operation == OperationName::bcast) return "buffer";
  return side == Side::send ? "send buffer" : "receive buffer";
}

}  // namespace

BlockList sent(const CollectiveCall& call, Rank rank) noexcept {
  const bool scatters = call.collective == Collective::scatter || call.collective == Collective::scatterv;
  if (scatters) return rank == call.root ? call.send : BlockList();
  return call.in_place ? BlockList() : call.send;
}

BlockList received(const CollectiveCall& call, Rank rank) noexcept {
  if (call.in_place && combines(call.collective)) return call.send;
  switch (call.collective) {
    case Collective::gather:
    case Collective::gatherv:
    case Collective::reduce:
      return rank == call.root ? call.recv : BlockList();
    case Collective::scatter:
    case Collective::scatterv:
      return call.in_place ? BlockList() : call.recv;
    case Collective::exscan:  // leaves the buffer of rank 0 as it is
      return rank > 0 ? call.recv : BlockList();
    default:
      return call.recv;
  }
}

void check_null(const CallBuffers& call, Side side, const BlockList& blocks) {
  std::size_t bytes = 0;
  bool at_null = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockView block = blocks[i];
    bytes += block.bytes();
    if (block.bytes() > 0 && block.offset + block.element->true_lower_bound() == 0) at_null = true;
  }
  if (at_null)
    throw Error(Errc::invalid_argument, fmt::format("{}: the {} is a null pointer; valid is the address of {} bytes",
                                                    name_of(call.operation), name_of(call, side), bytes));
}

}  // namespace fab::native
