#include "fab/reduce_scatter.h"

#include "bindings/native/starting_collectives.h"
#include "collectives/exchange_calls.h"

namespace fab {

using namespace native;

namespace {

CollectiveCall equal_blocks(const Communicator& communicator, const Layout& block, const Operator& operation,
                            bool in_place) {
  return collectives::reduce_scatter_block_call(block, operation, communicator.size(), in_place);
}

CollectiveCall unequal_blocks(const Communicator& communicator, const Layout& element, std::span<const int> counts,
                              const Operator& operation, bool in_place) {
  return collectives::reduce_scatter_call(element, counts, operation, communicator.rank(), communicator.size(),
                                          in_place);
}

}  // namespace

void reduce_scatter_block(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                          const Operator& operation) {
  wait_for(communicator, send, recv, [&] { return equal_blocks(communicator, block, operation, kApart); });
}
Request ireduce_scatter_block(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                              const Operator& operation) {
  return begin(communicator, send, recv, [&] { return equal_blocks(communicator, block, operation, kApart); });
}
PersistentExchange reduce_scatter_block_init(const Communicator& communicator, const void* send, void* recv,
                                             const Layout& block, const Operator& operation) {
  return make(communicator, send, recv, [&] { return equal_blocks(communicator, block, operation, kApart); });
}

void reduce_scatter_block(const Communicator& communicator, void* buffer, const Layout& block,
                          const Operator& operation) {
  wait_for(communicator, nullptr, buffer, [&] { return equal_blocks(communicator, block, operation, kInPlace); });
}
Request ireduce_scatter_block(const Communicator& communicator, void* buffer, const Layout& block,
                              const Operator& operation) {
  return begin(communicator, nullptr, buffer, [&] { return equal_blocks(communicator, block, operation, kInPlace); });
}
PersistentExchange reduce_scatter_block_init(const Communicator& communicator, void* buffer, const Layout& block,
                                             const Operator& operation) {
  return make(communicator, nullptr, buffer, [&] { return equal_blocks(communicator, block, operation, kInPlace); });
}

void reduce_scatter(const Communicator& communicator, const void* send, void* recv, const Layout& element,
                    std::span<const int> counts, const Operator& operation) {
  wait_for(communicator, send, recv, [&] { return unequal_blocks(communicator, element, counts, operation, kApart); });
}
Request ireduce_scatter(const Communicator& communicator, const void* send, void* recv, const Layout& element,
                        std::span<const int> counts, const Operator& operation) {
  return begin(communicator, send, recv,
               [&] { return unequal_blocks(communicator, element, counts, operation, kApart); });
}
PersistentExchange reduce_scatter_init(const Communicator& communicator, const void* send, void* recv,
                                       const Layout& element, std::span<const int> counts, const Operator& operation) {
  return make(communicator, send, recv,
              [&] { return unequal_blocks(communicator, element, counts, operation, kApart); });
}

void reduce_scatter(const Communicator& communicator, void* buffer, const Layout& element, std::span<const int> counts,
                    const Operator& operation) {
  wait_for(communicator, nullptr, buffer,
           [&] { return unequal_blocks(communicator, element, counts, operation, kInPlace); });
}
Request ireduce_scatter(const Communicator& communicator, void* buffer, const Layout& element,
                        std::span<const int> counts, const Operator& operation) {
  return begin(communicator, nullptr, buffer,
               [&] { return unequal_blocks(communicator, element, counts, operation, kInPlace); });
}
PersistentExchange reduce_scatter_init(const Communicator& communicator, void* buffer, const Layout& element,
                                       std::span<const int> counts, const Operator& operation) {
  return make(communicator, nullptr, buffer,
              [&] { return unequal_blocks(communicator, element, counts, operation, kInPlace); });
}

}  // namespace fab
