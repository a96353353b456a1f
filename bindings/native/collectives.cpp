#include "fab/collectives.h"

#include "bindings/native/starting_collectives.h"

namespace fab {

using namespace native;

void barrier(const Communicator& communicator) {
  wait_for(communicator, nullptr, nullptr, collectives::barrier_call());
}
Request ibarrier(const Communicator& communicator) {
  return begin(communicator, nullptr, nullptr, collectives::barrier_call());
}
PersistentExchange barrier_init(const Communicator& communicator) {
  return make(communicator, nullptr, nullptr, collectives::barrier_call());
}

void bcast(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  wait_for(communicator, nullptr, buffer, collectives::bcast_call(block, root));
}
Request ibcast(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  return begin(communicator, nullptr, buffer, collectives::bcast_call(block, root));
}
PersistentExchange bcast_init(const Communicator& communicator, void* buffer, const Layout& block, Rank root) {
  return make(communicator, nullptr, buffer, collectives::bcast_call(block, root));
}

void reduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
            const Operator& operation, Rank root) {
  wait_for(communicator, send, recv, collectives::reduce_call(block, operation, root, kApart));
}
Request ireduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                const Operator& operation, Rank root) {
  return begin(communicator, send, recv, collectives::reduce_call(block, operation, root, kApart));
}
PersistentExchange reduce_init(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                               const Operator& operation, Rank root) {
  return make(communicator, send, recv, collectives::reduce_call(block, operation, root, kApart));
}

void reduce(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation, Rank root) {
  wait_for(communicator, nullptr, buffer, collectives::reduce_call(block, operation, root, kInPlace));
}
Request ireduce(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation,
                Rank root) {
  return begin(communicator, nullptr, buffer, collectives::reduce_call(block, operation, root, kInPlace));
}
PersistentExchange reduce_init(const Communicator& communicator, void* buffer, const Layout& block,
                               const Operator& operation, Rank root) {
  return make(communicator, nullptr, buffer, collectives::reduce_call(block, operation, root, kInPlace));
}

void allreduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
               const Operator& operation) {
  wait_for(communicator, send, recv, collectives::allreduce_call(block, operation, kApart));
}
Request iallreduce(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                   const Operator& operation) {
  return begin(communicator, send, recv, collectives::allreduce_call(block, operation, kApart));
}
PersistentExchange allreduce_init(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                                  const Operator& operation) {
  return make(communicator, send, recv, collectives::allreduce_call(block, operation, kApart));
}

void allreduce(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation) {
  wait_for(communicator, nullptr, buffer, collectives::allreduce_call(block, operation, kInPlace));
}
Request iallreduce(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation) {
  return begin(communicator, nullptr, buffer, collectives::allreduce_call(block, operation, kInPlace));
}
PersistentExchange allreduce_init(const Communicator& communicator, void* buffer, const Layout& block,
                                  const Operator& operation) {
  return make(communicator, nullptr, buffer, collectives::allreduce_call(block, operation, kInPlace));
}

}  // namespace fab
