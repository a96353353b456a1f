// Neighbour exchanges from the blocks that the user describes: equal blocks, blocks of different counts, or blocks with
// a datatype each.
#pragma once

#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/requests/exchange.h"
#include "collectives/neighbor/neighbor_xchg.h"

namespace fab::mpi {

/// A call for three_forms.h. blocks(side, n) makes the list of one side's n blocks.
template <class AnySide, class Blocks>
auto neighbor_blocks(const AnySide& send, const AnySide& recv, Blocks blocks) {
  return [send, recv, blocks](const core::Communicator& core, Kept&, const auto& then) -> decltype(auto) {
    const bool in_place = is_in_place(send);
    const Neighborhood& edges = core.neighborhood();
    const collectives::NeighborXchg call{
        .send = in_place ? collectives::BlockList{} : blocks(send, edges.destinations.size()),
        .recv = blocks(recv, edges.sources.size()),
        .in_place = in_place};
    return then(in_place ? nullptr : send.buffer, memory_of(recv), call);
  };
}

}  // namespace fab::mpi
