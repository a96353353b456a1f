#include "fab/alltoall.h"

#include "bindings/native/block_lists.h"
#include "bindings/native/starting_collectives.h"
#include "collectives/exchange_calls.h"

namespace fab {

using namespace native;

namespace {

CollectiveCall equal_blocks(const Communicator& communicator, const Layout& block, bool in_place) {
  return collectives::alltoall_call(block, communicator.size(), in_place);
}

CollectiveCall unequal_blocks(const Communicator& communicator, const RankBlocks& send, const RankBlocks& recv) {
  return collectives::alltoallv_call(list_of(send), list_of(recv), communicator.size());
}

CollectiveCall unequal_blocks(const Communicator& communicator, const RankBlocks& blocks) {
  return collectives::alltoallv_call(list_of(blocks), communicator.size());
}

}  // namespace

void alltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  wait_for(communicator, send, recv, [&] { return equal_blocks(communicator, block, kApart); });
}
Request ialltoall(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return begin(communicator, send, recv, [&] { return equal_blocks(communicator, block, kApart); });
}
PersistentExchange alltoall_init(const Communicator& communicator, const void* send, void* recv, const Layout& block) {
  return make(communicator, send, recv, [&] { return equal_blocks(communicator, block, kApart); });
}

void alltoall(const Communicator& communicator, void* buffer, const Layout& block) {
  wait_for(communicator, nullptr, buffer, [&] { return equal_blocks(communicator, block, kInPlace); });
}
Request ialltoall(const Communicator& communicator, void* buffer, const Layout& block) {
  return begin(communicator, nullptr, buffer, [&] { return equal_blocks(communicator, block, kInPlace); });
}
PersistentExchange alltoall_init(const Communicator& communicator, void* buffer, const Layout& block) {
  return make(communicator, nullptr, buffer, [&] { return equal_blocks(communicator, block, kInPlace); });
}

void alltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks, void* recv,
               const RankBlocks& recv_blocks) {
  wait_for(communicator, send, recv, [&] { return unequal_blocks(communicator, send_blocks, recv_blocks); });
}
Request ialltoallv(const Communicator& communicator, const void* send, const RankBlocks& send_blocks, void* recv,
                   const RankBlocks& recv_blocks) {
  return begin(communicator, send, recv, [&] { return unequal_blocks(communicator, send_blocks, recv_blocks); });
}
PersistentExchange alltoallv_init(const Communicator& communicator, const void* send, const RankBlocks& send_blocks,
                                  void* recv, const RankBlocks& recv_blocks) {
  return make(communicator, send, recv, [&] { return unequal_blocks(communicator, send_blocks, recv_blocks); });
}

void alltoallv(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  wait_for(communicator, nullptr, buffer, [&] { return unequal_blocks(communicator, blocks); });
}
Request ialltoallv(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  return begin(communicator, nullptr, buffer, [&] { return unequal_blocks(communicator, blocks); });
}
PersistentExchange alltoallv_init(const Communicator& communicator, void* buffer, const RankBlocks& blocks) {
  return make(communicator, nullptr, buffer, [&] { return unequal_blocks(communicator, blocks); });
}

}  // namespace fab
