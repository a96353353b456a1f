#include "fab/gather.h"

#include "bindings/native/starting_collectives.h"
#include "collectives/gather_calls.h"

namespace fab {

namespace {

using collectives::BlockList;
using namespace native;

/// What the three forms of a call have in common.
struct Parts {
  const void* send;
  void* recv;
  CollectiveCall call;
};

/// `make_parts` makes them, and may refuse the arguments.
template <class MakeParts>
Request start(const Communicator& communicator, MakeParts&& make_parts) {
  core::Communicator& core = *communicator.core();
  return core::in_order(core, [&] {
    const Parts parts = make_parts();
    const core::Lock lock(core.engine().mutex);
    return Request(communicator.core(), collectives::start(core, parts.send, parts.recv, parts.call));
  });
}
template <class MakeParts>
void wait_for(const Communicator& communicator, MakeParts&& make_parts) {
  start(communicator, make_parts).wait();
}
template <class MakeParts>
Request begin(const Communicator& communicator, MakeParts&& make_parts) {
  Request request = start(communicator, make_parts);
  communicator.core()->engine().leave();
  return request;
}
template <class MakeParts>
PersistentExchange make(const Communicator& communicator, MakeParts&& make_parts) {
  return core::in_order_of_lasting(*communicator.core(), [&] {
    const Parts parts = make_parts();
    return PersistentExchange(collectives::make(communicator.core(), parts.send, parts.recv, parts.call));
  });
}

BlockList one(const Layout& block) { return BlockList::regular(block, 1, 1); }

BlockList each(const Communicator& communicator, const Layout& block) {
  return BlockList::regular(block, 1, static_cast<std::size_t>(communicator.size()));
}

BlockList list(const RankBlocks& blocks) {
  if (blocks.element() == nullptr) return BlockList::general(blocks.shapes());
  return BlockList::irregular(*blocks.element(), blocks.counts(), blocks.displacements());
}

CollectiveCall rooted(Collective collective, const Communicator& communicator, Rank root, const BlockList& send,
                      const BlockList& recv, bool in_place) {
  return collectives::gather_call({.collective = collective,
                                   .rank = communicator.rank(),
                                   .ranks = communicator.size(),
                                   .root = root,
                                   .in_place = in_place,
                                   .send = send,
                                   .recv = recv});
}

CollectiveCall unrooted(Collective collective, const Communicator& communicator, const BlockList& send,
                        const BlockList& recv, bool in_place) {
  return rooted(collective, communicator, 0, send, recv, in_place);
}

Parts gather_parts(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root) {
  return {send, recv, rooted(Collective::gather, communicator, root, one(block), each(communicator, block), kApart)};
}

Parts gather_parts(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  if (communicator.rank() != root) return gather_parts(communicator, buffer, nullptr, block, root);
  return {nullptr, buffer, rooted(Collective::gather, communicator, root, {}, each(communicator, block), kInPlace)};
}

Parts gatherv_parts(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                    const RankBlocks& blocks, Rank root) {
  return {send, recv, rooted(Collective::gatherv, communicator, root, one(block), list(blocks), kApart)};
}

Parts gatherv_parts(const Communicator& communicator, void* buffer, const RankBlocks& blocks, Rank root) {
  return {nullptr, buffer, rooted(Collective::gatherv, communicator, root, {}, list(blocks), kInPlace)};
}

Parts scatter_parts(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root) {
  return {send, recv, rooted(Collective::scatter, communicator, root, each(communicator, block), one(block), kApart)};
}

Parts scatter_parts(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  if (communicator.rank() != root) return scatter_parts(communicator, nullptr, buffer, block, root);
  return {buffer, nullptr, rooted(Collective::scatter, communicator, root, each(communicator, block), {}, kInPlace)};
}

Parts scatterv_parts(const Communicator& communicator, const void* send, const RankBlocks& blocks, void* recv,
                     const Layout& block, Rank root) {
  return {send, recv, rooted(Collective::scatterv, communicator, root, list(blocks), one(block), kApart)};
}

Parts scatterv_parts(const Communicator& communicator, const void* buffer, const RankBlocks& blocks, Rank root) {
  return {buffer, nullptr, rooted(Collective::scatterv, communicator, root, list(blocks), {}, kInPlace)};
}

Parts allgather_parts(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return {send, recv, unrooted(Collective::allgather, communicator, one(block), each(communicator, block), kApart)};
}

Parts allgather_parts(const Communicator& communicator, void* buffer, const Layout& block) {
  return {nullptr, buffer, unrooted(Collective::allgather, communicator, {}, each(communicator, block), kInPlace)};
}

Parts allgatherv_parts(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                       const RankBlocks& blocks) {
  return {send, recv, unrooted(Collective::allgatherv, communicator, one(block), list(blocks), kApart)};
}

Parts allgatherv_parts(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  return {nullptr, buffer, unrooted(Collective::allgatherv, communicator, {}, list(blocks), kInPlace)};
}

}  // namespace

void gather(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root) {
  wait_for(communicator, [&] { return gather_parts(communicator, send, recv, block, root); });
}
Request igather(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root) {
  return begin(communicator, [&] { return gather_parts(communicator, send, recv, block, root); });
}
PersistentExchange gather_init(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                               Rank root) {
  return make(communicator, [&] { return gather_parts(communicator, send, recv, block, root); });
}

void gather(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  wait_for(communicator, [&] { return gather_parts(communicator, buffer, block, root); });
}
Request igather(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  return begin(communicator, [&] { return gather_parts(communicator, buffer, block, root); });
}
PersistentExchange gather_init(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  return make(communicator, [&] { return gather_parts(communicator, buffer, block, root); });
}

void gatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
             const RankBlocks& blocks, Rank root) {
  wait_for(communicator, [&] { return gatherv_parts(communicator, send, block, recv, blocks, root); });
}
Request igatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                 const RankBlocks& blocks, Rank root) {
  return begin(communicator, [&] { return gatherv_parts(communicator, send, block, recv, blocks, root); });
}
PersistentExchange gatherv_init(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                                const RankBlocks& blocks, Rank root) {
  return make(communicator, [&] { return gatherv_parts(communicator, send, block, recv, blocks, root); });
}

void gatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks, Rank root) {
  wait_for(communicator, [&] { return gatherv_parts(communicator, buffer, blocks, root); });
}
Request igatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks, Rank root) {
  return begin(communicator, [&] { return gatherv_parts(communicator, buffer, blocks, root); });
}
PersistentExchange gatherv_init(const Communicator& communicator, void* buffer, const RankBlocks& blocks, Rank root) {
  return make(communicator, [&] { return gatherv_parts(communicator, buffer, blocks, root); });
}

void scatter(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root) {
  wait_for(communicator, [&] { return scatter_parts(communicator, send, recv, block, root); });
}
Request iscatter(const Communicator& communicator, const void* send, void* recv, const Layout& block, Rank root) {
  return begin(communicator, [&] { return scatter_parts(communicator, send, recv, block, root); });
}
PersistentExchange scatter_init(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                                Rank root) {
  return make(communicator, [&] { return scatter_parts(communicator, send, recv, block, root); });
}

void scatter(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  wait_for(communicator, [&] { return scatter_parts(communicator, buffer, block, root); });
}
Request iscatter(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  return begin(communicator, [&] { return scatter_parts(communicator, buffer, block, root); });
}
PersistentExchange scatter_init(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  return make(communicator, [&] { return scatter_parts(communicator, buffer, block, root); });
}

void scatterv(const Communicator& communicator, const void* send, const RankBlocks& blocks, void* recv,
              const Layout& block, Rank root) {
  wait_for(communicator, [&] { return scatterv_parts(communicator, send, blocks, recv, block, root); });
}
Request iscatterv(const Communicator& communicator, const void* send, const RankBlocks& blocks, void* recv,
                  const Layout& block, Rank root) {
  return begin(communicator, [&] { return scatterv_parts(communicator, send, blocks, recv, block, root); });
}
PersistentExchange scatterv_init(const Communicator& communicator, const void* send, const RankBlocks& blocks,
                                 void* recv, const Layout& block, Rank root) {
  return make(communicator, [&] { return scatterv_parts(communicator, send, blocks, recv, block, root); });
}

void scatterv(const Communicator& communicator, const void* buffer, const RankBlocks& blocks, Rank root) {
  wait_for(communicator, [&] { return scatterv_parts(communicator, buffer, blocks, root); });
}
Request iscatterv(const Communicator& communicator, const void* buffer, const RankBlocks& blocks, Rank root) {
  return begin(communicator, [&] { return scatterv_parts(communicator, buffer, blocks, root); });
}
PersistentExchange scatterv_init(const Communicator& communicator, const void* buffer, const RankBlocks& blocks,
                                 Rank root) {
  return make(communicator, [&] { return scatterv_parts(communicator, buffer, blocks, root); });
}

void allgather(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  wait_for(communicator, [&] { return allgather_parts(communicator, send, recv, block); });
}
Request iallgather(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return begin(communicator, [&] { return allgather_parts(communicator, send, recv, block); });
}
PersistentExchange allgather_init(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return make(communicator, [&] { return allgather_parts(communicator, send, recv, block); });
}

void allgather(const Communicator& communicator, void* buffer, const Layout& block) {
  wait_for(communicator, [&] { return allgather_parts(communicator, buffer, block); });
}
Request iallgather(const Communicator& communicator, void* buffer, const Layout& block) {
  return begin(communicator, [&] { return allgather_parts(communicator, buffer, block); });
}
PersistentExchange allgather_init(const Communicator& communicator, void* buffer, const Layout& block) {
  return make(communicator, [&] { return allgather_parts(communicator, buffer, block); });
}

void allgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                const RankBlocks& blocks) {
  wait_for(communicator, [&] { return allgatherv_parts(communicator, send, block, recv, blocks); });
}
Request iallgatherv(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                    const RankBlocks& blocks) {
  return begin(communicator, [&] { return allgatherv_parts(communicator, send, block, recv, blocks); });
}
PersistentExchange allgatherv_init(const Communicator& communicator, const void* send, const Layout& block, void* recv,
                                   const RankBlocks& blocks) {
  return make(communicator, [&] { return allgatherv_parts(communicator, send, block, recv, blocks); });
}

void allgatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  wait_for(communicator, [&] { return allgatherv_parts(communicator, buffer, blocks); });
}
Request iallgatherv(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  return begin(communicator, [&] { return allgatherv_parts(communicator, buffer, blocks); });
}
PersistentExchange allgatherv_init(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  return make(communicator, [&] { return allgatherv_parts(communicator, buffer, blocks); });
}

}  // namespace fab
