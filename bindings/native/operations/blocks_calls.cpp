// Operations on blocks of different sizes.
#include "bindings/native/operations/operation_sizes.h"
#include "bindings/native/operations/performing.h"
#include "collectives/calls/exchange_calls.h"
#include "collectives/calls/gather_calls.h"

namespace fab::detail {

using collectives::BlockList;
using collectives::NeighborCall;
using namespace native;

namespace {

/// gatherv, scatterv or allgatherv. `blocks` are those of all ranks; the other side is this rank's own block, which has
/// `own_elements` if the call is typed. Ranks that are not the root need not say what blocks there are.
template <class Use>
decltype(auto) all_and_own(const Communicator& communicator, const BlocksCall& call, Collective collective,
                           std::size_t all_elements, std::size_t own_elements, Use&& use) {
  const bool is_scatter = collective == Collective::scatterv;
  const bool lists = collective == Collective::allgatherv || communicator.rank() == call.root.rank;
  const Blocks& blocks = is_scatter ? *call.send_blocks : *call.recv_blocks;
  const ListedBlocks all(call, lists ? blocks : Blocks(), all_elements);
  const BlockLayout block(call, [&] { return own_elements; });
  const BlockList own = call.in_place ? BlockList() : BlockList::regular(*block, 1, 1);
  return use(PreparedCollective{{call.send, call.recv},
                                collectives::gather_call({.collective = collective,
                                                          .rank = communicator.rank(),
                                                          .ranks = communicator.size(),
                                                          .root = call.root.rank,
                                                          .in_place = call.in_place,
                                                          .send = is_scatter ? all.list() : own,
                                                          .recv = is_scatter ? own : all.list()})});
}

template <class Use>
decltype(auto) alltoallv(const Communicator& communicator, const BlocksCall& call, Use&& use) {
  const ListedBlocks recv(call, *call.recv_blocks, call.recv_elements);
  if (call.in_place)
    return use(PreparedCollective{{nullptr, call.recv}, collectives::alltoallv_call(recv.list(), communicator.size())});
  const ListedBlocks send(call, *call.send_blocks, call.send_elements);
  return use(PreparedCollective{{call.send, call.recv},
                                collectives::alltoallv_call(send.list(), recv.list(), communicator.size())});
}

template <class Use>
decltype(auto) neighbor_xchgv(const BlocksCall& call, Use&& use) {
  const ListedBlocks recv(call, *call.recv_blocks, call.recv_elements);
  const ListedBlocks send(call, call.in_place ? Blocks() : *call.send_blocks, call.send_elements);
  return use(
      PreparedXchg{{call.send, call.recv}, {.send = send.list(), .recv = recv.list(), .in_place = call.in_place}});
}

template <class Use>
decltype(auto) neighbor_alltoallv(const BlocksCall& call, Use&& use) {
  const ListedBlocks recv(call, *call.recv_blocks, call.recv_elements);
  const ListedBlocks send(call, call.in_place ? Blocks() : *call.send_blocks, call.send_elements);
  return use(PreparedNeighborCollective{
      {call.send, call.recv},
      {.call = NeighborCall::alltoallv, .send = send.list(), .recv = recv.list(), .in_place = call.in_place}});
}

template <class Use>
decltype(auto) neighbor_allgatherv(const BlocksCall& call, Use&& use) {
  const ListedBlocks recv(call, *call.recv_blocks, call.recv_elements);
  const BlockLayout block(call, [&] { return call.send_elements; });
  return use(PreparedNeighborCollective{
      {call.send, call.recv},
      {.call = NeighborCall::allgatherv, .send = BlockList::regular(*block, 1, 1), .recv = recv.list()}});
}

}  // namespace

template <class Use>
auto prepared(const Communicator& communicator, const BlocksCall& call, Use&& use) {
  const std::size_t sent = call.send_elements;
  const std::size_t received = call.recv_elements;
  switch (call.operation) {
    case OperationName::gatherv:
      return all_and_own(communicator, call, Collective::gatherv, received, sent, use);
    case OperationName::scatterv:
      return all_and_own(communicator, call, Collective::scatterv, sent, received, use);
    case OperationName::allgatherv:
      return all_and_own(communicator, call, Collective::allgatherv, received, sent, use);
    case OperationName::neighbor_xchgv:
      return neighbor_xchgv(call, use);
    case OperationName::neighbor_allgatherv:
      return neighbor_allgatherv(call, use);
    case OperationName::neighbor_alltoallv:
      return neighbor_alltoallv(call, use);
    default:
      return alltoallv(communicator, call, use);
  }
}

template void perform(const Communicator&, const BlocksCall&);
template Request start(const Communicator&, const BlocksCall&);
template PersistentExchange persistent(const Communicator&, const BlocksCall&);
template Status try_perform(const Communicator&, const BlocksCall&) noexcept;
template Result<Request> try_start(const Communicator&, const BlocksCall&) noexcept;
template Result<PersistentExchange> try_persistent(const Communicator&, const BlocksCall&) noexcept;

}  // namespace fab::detail
