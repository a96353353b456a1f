#include "fab/neighbor_collectives.h"

#include "bindings/native/block_lists.h"
#include "bindings/native/starting.h"
#include "collectives/neighbor/neighbor_collective.h"
#include "fab/error.h"

namespace fab {

using collectives::BlockList;
using collectives::NeighborCall;
using collectives::NeighborCollective;

NeighborSlots neighbor_slots(const Communicator& communicator) {
  const Neighborhood& edges = communicator.neighborhood();
  const collectives::StandardBlocks blocks = collectives::standard_blocks(*communicator.topology(), edges);
  return {.destinations = blocks.send, .sources = blocks.recv};
}

namespace {

void wait_for(const Communicator& communicator, const void* send, void* recv, const NeighborCollective& call) {
  start_run(communicator, [&](core::Communicator& core) -> core::Run& {
    return collectives::start_neighbor_collective(core, send, recv, call);
  }).wait();
}

Request begin(const Communicator& communicator, const void* send, void* recv, const NeighborCollective& call) {
  return start_in_background(communicator, [&](core::Communicator& core) -> core::Run& {
    return collectives::start_neighbor_collective(core, send, recv, call);
  });
}

PersistentExchange make(const Communicator& communicator, const void* send, void* recv,
                        const NeighborCollective& call) {
  return core::in_order_of_lasting(*communicator.core(), [&] {
    return PersistentExchange(collectives::make_neighbor_collective(communicator.core(), send, recv, call));
  });
}

NeighborCollective allgather(const Communicator& communicator, const Layout& block) {
  return {NeighborCall::allgather, BlockList::regular(block, 1, 1),
          BlockList::regular(block, 1, neighbor_slots(communicator).sources)};
}

NeighborCollective allgather(const Layout& block, const RankBlocks& recv) {
  return {NeighborCall::allgatherv, BlockList::regular(block, 1, 1), native::list_of(recv)};
}

NeighborCollective alltoall(const Communicator& communicator, const Layout& block) {
  const auto [destinations, sources] = neighbor_slots(communicator);
  return {NeighborCall::alltoall, BlockList::regular(block, 1, destinations), BlockList::regular(block, 1, sources)};
}

NeighborCollective alltoall(const RankBlocks& send, const RankBlocks& recv) {
  return {NeighborCall::alltoallv, native::list_of(send), native::list_of(recv)};
}

}  // namespace

void neighbor_allgather(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  wait_for(communicator, send, recv, allgather(communicator, block));
}
Request ineighbor_allgather(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return begin(communicator, send, recv, allgather(communicator, block));
}
PersistentExchange neighbor_allgather_init(const Communicator& communicator, const void* send, void* recv,
                                           const Layout& block) {
  return make(communicator, send, recv, allgather(communicator, block));
}

void neighbor_allgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                         const RankBlocks& recv_blocks) {
  wait_for(communicator, send, recv, allgather(block, recv_blocks));
}
Request ineighbor_allgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                             const RankBlocks& recv_blocks) {
  return begin(communicator, send, recv, allgather(block, recv_blocks));
}
PersistentExchange neighbor_allgatherv_init(const Communicator& communicator, const void* send, const Layout& block,
                                            void* recv, const RankBlocks& recv_blocks) {
  return make(communicator, send, recv, allgather(block, recv_blocks));
}

void neighbor_alltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  wait_for(communicator, send, recv, alltoall(communicator, block));
}
Request ineighbor_alltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return begin(communicator, send, recv, alltoall(communicator, block));
}
PersistentExchange neighbor_alltoall_init(const Communicator& communicator, const void* send, void* recv,
                                          const Layout& block) {
  return make(communicator, send, recv, alltoall(communicator, block));
}

void neighbor_alltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks, void* recv,
                        const RankBlocks& recv_blocks) {
  wait_for(communicator, send, recv, alltoall(send_blocks, recv_blocks));
}
Request ineighbor_alltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks,
                            void* recv, const RankBlocks& recv_blocks) {
  return begin(communicator, send, recv, alltoall(send_blocks, recv_blocks));
}
PersistentExchange neighbor_alltoallv_init(const Communicator& communicator, const void* send,
                                           const RankBlocks& send_blocks, void* recv, const RankBlocks& recv_blocks) {
  return make(communicator, send, recv, alltoall(send_blocks, recv_blocks));
}

}  // namespace fab
