#include "fab/neighbor.h"

#include "bindings/native/starting.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_xchg.h"

namespace fab {

namespace {

using collectives::BlockList;

auto equal_blocks(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return [&communicator, send, recv, &block](core::Communicator& core) -> core::Run& {
    const Neighborhood& edges = communicator.neighborhood();
    return collectives::start_neighbor_xchg(core, send, recv,
                                            {.send = BlockList::regular(block, 1, edges.destinations.size()),
                                             .recv = BlockList::regular(block, 1, edges.sources.size())});
  };
}

auto in_place_blocks(const Communicator& communicator, void* buffer, const Layout& block) {
  return [&communicator, buffer, &block](core::Communicator& core) -> core::Run& {
    const std::size_t blocks = communicator.neighborhood().sources.size();
    return collectives::start_neighbor_xchg(
        core, nullptr, buffer, {.send = {}, .recv = BlockList::regular(block, 1, blocks), .in_place = true});
  };
}

auto shaped_blocks(const void* send, std::span<const BlockShape> send_blocks, void* recv,
                   std::span<const BlockShape> recv_blocks) {
  return [=](core::Communicator& core) -> core::Run& {
    return collectives::start_neighbor_xchg(
        core, send, recv, {.send = BlockList::general(send_blocks), .recv = BlockList::general(recv_blocks)});
  };
}

auto shift(const void* send, void* recv, const Layout& block, int dimension, int displacement, bool in_place) {
  return [=, &block](core::Communicator& core) -> core::Run& {
    return collectives::start_cart_shift_xchg(core, send, recv,
                                              {.send = {0, 1, &block},
                                               .recv = {0, 1, &block},
                                               .dimension = dimension,
                                               .displacement = displacement,
                                               .in_place = in_place});
  };
}

}  // namespace

void neighbor_xchg(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  start_run(communicator, equal_blocks(communicator, send, recv, block)).wait();
}

Request ineighbor_xchg(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return start_in_background(communicator, equal_blocks(communicator, send, recv, block));
}

void neighbor_xchg(const Communicator& communicator, void* buffer, const Layout& block) {
  start_run(communicator, in_place_blocks(communicator, buffer, block)).wait();
}

Request ineighbor_xchg(const Communicator& communicator, void* buffer, const Layout& block) {
  return start_in_background(communicator, in_place_blocks(communicator, buffer, block));
}

void neighbor_xchgv(const Communicator& communicator, const void* send, std::span<const BlockShape> send_blocks,
                    void* recv, std::span<const BlockShape> recv_blocks) {
  start_run(communicator, shaped_blocks(send, send_blocks, recv, recv_blocks)).wait();
}

Request ineighbor_xchgv(const Communicator& communicator, const void* send, std::span<const BlockShape> send_blocks,
                        void* recv, std::span<const BlockShape> recv_blocks) {
  return start_in_background(communicator, shaped_blocks(send, send_blocks, recv, recv_blocks));
}

void cart_shift_xchg(const Communicator& communicator, const void* send, void* recv, const Layout& block, int dimension,
                     int displacement) {
  start_run(communicator, shift(send, recv, block, dimension, displacement, false)).wait();
}

Request icart_shift_xchg(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                         int dimension, int displacement) {
  return start_in_background(communicator, shift(send, recv, block, dimension, displacement, false));
}

void cart_shift_xchg(const Communicator& communicator, void* buffer, const Layout& block, int dimension,
                     int displacement) {
  start_run(communicator, shift(nullptr, buffer, block, dimension, displacement, true)).wait();
}

Request icart_shift_xchg(const Communicator& communicator, void* buffer, const Layout& block, int dimension,
                         int displacement) {
  return start_in_background(communicator, shift(nullptr, buffer, block, dimension, displacement, true));
}

}  // namespace fab
