// PartitionedExchange: an exchange whose parts threads mark ready, and wait for, one by one.
#include "fab/partitioned.h"

#include <fmt/core.h>

#include "bindings/native/base/raise.h"
#include "bindings/native/operations/operation_sizes.h"
#include "bindings/native/operations/performing.h"
#include "collectives/neighbor/partitioned_edges.h"
#include "fab/neighbor.h"

namespace fab {

core::Persistent& PartitionedExchange::divided(const char* call) const {
  if (exchange_ == nullptr)
    throw Error(
        Errc::invalid_argument,
        fmt::format("PartitionedExchange::{}: the object holds no exchange; neighbor_xchg.partitioned makes one",
                    call));
  return *exchange_;
}

void PartitionedExchange::ready(std::size_t destination, std::size_t part) {
  divided("ready").ready(destination, part);
}

bool PartitionedExchange::arrived(std::size_t source, std::size_t part) {
  Status status;
  const bool arrived = divided("arrived").arrived(source, part, status);
  raise(status);
  return arrived;
}

void PartitionedExchange::wait_part(std::size_t source, std::size_t part) {
  raise(divided("wait_part").wait_part(source, part));
}

namespace detail {

namespace {

/// Elements of a part where a buffer has `parts` of them for each of so many neighbours.
std::size_t elements_per_part(const BlockCall& call, std::size_t elements, std::size_t blocks, std::size_t parts,
                              const char* side) {
  if (parts == 0) return 0;  // refused later
  const std::size_t all = blocks * parts;
  if (all == 0 ? elements != 0 : elements % all != 0)
    native::refuse(call, "the {} buffer has {} elements; valid is a multiple of {}, {} parts for each of {} neighbours",
                   side, elements, all, parts, blocks);
  return all == 0 ? 0 : elements / all;
}

}  // namespace

PartitionedExchange partitioned(const Communicator& communicator, std::size_t parts, const BlockCall& call) {
  const std::shared_ptr<core::Communicator>& core = Access::core(communicator);
  return core::in_order_of_persistent(*core, [&] {
    const Neighborhood& edges = core->neighborhood();
    const native::BlockLayout sent(
        call, [&] { return elements_per_part(call, call.send_elements, edges.destinations.size(), parts, "send"); });
    const native::BlockLayout received(
        call, [&] { return elements_per_part(call, call.recv_elements, edges.sources.size(), parts, "receive"); });
    core::Persistent made = collectives::make_partitioned_xchg(
        core, call.send, call.recv, {.parts = parts, .send_part = {0, 1, &*sent}, .recv_part = {0, 1, &*received}});
    return Access::partitioned(std::move(made));
  });
}

}  // namespace detail

}  // namespace fab
