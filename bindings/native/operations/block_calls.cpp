// Operations on equal blocks.
#include "bindings/native/operations/operation_sizes.h"
#include "bindings/native/operations/performing.h"
#include "collectives/calls/exchange_calls.h"
#include "collectives/calls/gather_calls.h"
#include "fab/neighbor_collectives.h"

namespace fab {

NeighborSlots neighbor_slots(const Communicator& communicator) {
  const Neighborhood& edges = communicator.neighborhood();
  const collectives::StandardBlocks blocks = collectives::standard_blocks(*communicator.topology(), edges);
  return {.destinations = blocks.send, .sources = blocks.recv};
}

}  // namespace fab

namespace fab::detail {

using collectives::BlockList;
using collectives::CollectiveCall;
using namespace native;

namespace {

std::size_t ranks_of(const Communicator& communicator) { return static_cast<std::size_t>(communicator.size()); }

/// Refuses a buffer for the blocks of all ranks that has another size.
void check_all(const CallBuffers& call, std::size_t elements, std::size_t block, std::size_t blocks) {
  if (elements != block * blocks)
    refuse(call, "the buffer has {} elements; the call needs {} blocks of {} elements", elements, blocks, block);
}

/// A gather, scatter or allgather. One side is this rank's own block, the other has the blocks of all ranks.
struct AllAndOwn {
  Collective collective;
  Rank root;

  [[nodiscard]] CollectiveCall call(const Communicator& communicator, const BlockList& send, const BlockList& recv,
                                    bool in_place) const {
    return collectives::gather_call({.collective = collective,
                                     .rank = communicator.rank(),
                                     .ranks = communicator.size(),
                                     .root = root,
                                     .in_place = in_place,
                                     .send = send,
                                     .recv = recv});
  }
};

/// In place on a rank that is not the root, the buffer is the one block that the rank has.
template <class Use>
decltype(auto) gather(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const std::size_t ranks = ranks_of(communicator);
  const bool is_root = communicator.rank() == call.root.rank;
  const bool in_place = call.in_place && is_root;
  const BlockLayout block(call, [&] {
    if (call.in_place) return is_root ? elements_per_block(call, call.recv_elements, ranks) : call.recv_elements;
    if (is_root) check_all(call, call.recv_elements, call.send_elements, ranks);
    return call.send_elements;
  });
  const BlockList all = BlockList::regular(*block, 1, ranks);
  const BlockList own = BlockList::regular(*block, 1, 1);
  const AllAndOwn shape{Collective::gather, call.root.rank};
  if (in_place) return use(PreparedCollective{{nullptr, call.recv}, shape.call(communicator, {}, all, true)});
  const void* const send = call.in_place ? call.recv : call.send;
  return use(
      PreparedCollective{{send, call.in_place ? nullptr : call.recv}, shape.call(communicator, own, all, false)});
}

template <class Use>
decltype(auto) scatter(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const std::size_t ranks = ranks_of(communicator);
  const bool is_root = communicator.rank() == call.root.rank;
  const BlockLayout block(call, [&] {
    if (call.in_place) return is_root ? elements_per_block(call, call.recv_elements, ranks) : call.recv_elements;
    if (is_root) check_all(call, call.send_elements, call.recv_elements, ranks);
    return call.recv_elements;
  });
  const BlockList all = BlockList::regular(*block, 1, ranks);
  const BlockList own = BlockList::regular(*block, 1, 1);
  const AllAndOwn shape{Collective::scatter, call.root.rank};
  if (call.in_place && is_root)
    return use(PreparedCollective{{call.recv, nullptr}, shape.call(communicator, all, {}, true)});
  return use(PreparedCollective{{call.send, call.recv}, shape.call(communicator, all, own, false)});
}

template <class Use>
decltype(auto) allgather(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const std::size_t ranks = ranks_of(communicator);
  const BlockLayout block(call, [&] {
    if (call.in_place) return elements_per_block(call, call.recv_elements, ranks);
    check_all(call, call.recv_elements, call.send_elements, ranks);
    return call.send_elements;
  });
  const BlockList own = call.in_place ? BlockList() : BlockList::regular(*block, 1, 1);
  const BlockList all = BlockList::regular(*block, 1, ranks);
  return use(PreparedCollective{{call.send, call.recv},
                                AllAndOwn{Collective::allgather, 0}.call(communicator, own, all, call.in_place)});
}

template <class Use>
decltype(auto) bcast(const BlockCall& call, Use&& use) {
  const BlockLayout block(call, [&] { return call.recv_elements; });
  return use(PreparedCollective{{nullptr, call.recv}, collectives::bcast_call(*block, call.root.rank)});
}

template <class Use>
decltype(auto) alltoall(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const BlockLayout block(call, [&] {
    check_equal(call);
    return elements_per_block(call, call.recv_elements, ranks_of(communicator));
  });
  return use(PreparedCollective{{call.send, call.recv},
                                collectives::alltoall_call(*block, communicator.size(), call.in_place)});
}

/// Elements of a block where buffers have one for each of so many destinations and sources.
std::size_t elements_along_edges(const CallBuffers& call, std::size_t destinations, std::size_t sources) {
  const auto per_block = [&call](std::size_t elements, std::size_t blocks, const char* side) {
    if (blocks == 0 ? elements != 0 : elements % blocks != 0)
      refuse(call, "the {} buffer has {} elements; valid is a multiple of {}, the number of neighbours", side, elements,
             blocks);
    return blocks == 0 ? 0 : elements / blocks;
  };
  if (call.in_place) return per_block(call.recv_elements, sources, "receive");
  const std::size_t outgoing = per_block(call.send_elements, destinations, "send");
  const std::size_t incoming = per_block(call.recv_elements, sources, "receive");
  if (destinations > 0 && sources > 0 && outgoing != incoming)
    refuse(call, "{} elements are sent per neighbour and {} received; use {}v for unequal blocks", outgoing, incoming,
           name_of(call.operation));
  return destinations == 0 ? incoming : outgoing;
}

template <class Use>
decltype(auto) neighbor_xchg(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const Neighborhood& edges = communicator.neighborhood();
  const std::size_t destinations = edges.destinations.size();
  const std::size_t sources = edges.sources.size();
  const BlockLayout block(call, [&] { return elements_along_edges(call, destinations, sources); });
  return use(PreparedXchg{{call.send, call.recv},
                          {.send = call.in_place ? BlockList() : BlockList::regular(*block, 1, destinations),
                           .recv = BlockList::regular(*block, 1, sources),
                           .in_place = call.in_place}});
}

template <class Use>
decltype(auto) neighbor_alltoall(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const auto [destinations, sources] = neighbor_slots(communicator);
  const BlockLayout block(
      call, [&, slots = NeighborSlots{destinations, sources}] {  // the structured binding cannot be captured
        return elements_along_edges(call, slots.destinations, slots.sources);
      });
  const BlockList send = call.in_place ? BlockList() : BlockList::regular(*block, 1, destinations);
  return use(PreparedNeighborCollective{{call.send, call.recv},
                                        {.call = collectives::NeighborCall::alltoall,
                                         .send = send,
                                         .recv = BlockList::regular(*block, 1, sources),
                                         .in_place = call.in_place}});
}

template <class Use>
decltype(auto) neighbor_allgather(const Communicator& communicator, const BlockCall& call, Use&& use) {
  const std::size_t sources = neighbor_slots(communicator).sources;
  const BlockLayout block(call, [&] {
    if (call.recv_elements != sources * call.send_elements)
      refuse(call, "the receive buffer has {} elements; it needs {} slots of {}", call.recv_elements, sources,
             call.send_elements);
    return call.send_elements;
  });
  return use(PreparedNeighborCollective{{call.send, call.recv},
                                        {.call = collectives::NeighborCall::allgather,
                                         .send = BlockList::regular(*block, 1, 1),
                                         .recv = BlockList::regular(*block, 1, sources)}});
}

}  // namespace

template <class Use>
auto prepared(const Communicator& communicator, const BlockCall& call, Use&& use) {
  switch (call.operation) {
    case OperationName::bcast:
      return bcast(call, use);
    case OperationName::gather:
      return gather(communicator, call, use);
    case OperationName::scatter:
      return scatter(communicator, call, use);
    case OperationName::allgather:
      return allgather(communicator, call, use);
    case OperationName::alltoall:
      return alltoall(communicator, call, use);
    case OperationName::neighbor_xchg:
      return neighbor_xchg(communicator, call, use);
    case OperationName::neighbor_allgather:
      return neighbor_allgather(communicator, call, use);
    case OperationName::neighbor_alltoall:
      return neighbor_alltoall(communicator, call, use);
    default:
      return use(PreparedCollective{{}, collectives::barrier_call()});
  }
}

template void perform(const Communicator&, const BlockCall&);
template Request start(const Communicator&, const BlockCall&);
template PersistentExchange persistent(const Communicator&, const BlockCall&);
template Status try_perform(const Communicator&, const BlockCall&) noexcept;
template Result<Request> try_start(const Communicator&, const BlockCall&) noexcept;
template Result<PersistentExchange> try_persistent(const Communicator&, const BlockCall&) noexcept;

}  // namespace fab::detail
