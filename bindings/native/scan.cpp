#include "fab/scan.h"

#include "bindings/native/starting_collectives.h"
#include "collectives/exchange_calls.h"

namespace fab {

using collectives::exscan_call;
using collectives::scan_call;
using namespace native;

void scan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
          const Operator& operation) {
  wait_for(communicator, send, recv, scan_call(block, operation, kApart));
}
Request iscan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
              const Operator& operation) {
  return begin(communicator, send, recv, scan_call(block, operation, kApart));
}
PersistentExchange scan_init(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                             const Operator& operation) {
  return make(communicator, send, recv, scan_call(block, operation, kApart));
}

void scan(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation) {
  wait_for(communicator, nullptr, buffer, scan_call(block, operation, kInPlace));
}
Request iscan(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation) {
  return begin(communicator, nullptr, buffer, scan_call(block, operation, kInPlace));
}
PersistentExchange scan_init(const Communicator& communicator, void* buffer, const Layout& block,
                             const Operator& operation) {
  return make(communicator, nullptr, buffer, scan_call(block, operation, kInPlace));
}

void exscan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
            const Operator& operation) {
  wait_for(communicator, send, recv, exscan_call(block, operation, kApart));
}
Request iexscan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                const Operator& operation) {
  return begin(communicator, send, recv, exscan_call(block, operation, kApart));
}
PersistentExchange exscan_init(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                               const Operator& operation) {
  return make(communicator, send, recv, exscan_call(block, operation, kApart));
}

void exscan(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation) {
  wait_for(communicator, nullptr, buffer, exscan_call(block, operation, kInPlace));
}
Request iexscan(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation) {
  return begin(communicator, nullptr, buffer, exscan_call(block, operation, kInPlace));
}
PersistentExchange exscan_init(const Communicator& communicator, void* buffer, const Layout& block,
                               const Operator& operation) {
  return make(communicator, nullptr, buffer, exscan_call(block, operation, kInPlace));
}

}  // namespace fab
