// Discovery by a personalised census (PCX: Hoefler, Siebert, Lumsdaine, PPoPP 2010, section 4.2). Rank counts: any.
// Each rank has a vector of P numbers, 1 for its destinations and 0 for all others. A reduce_scatter of their sums
// tells each rank how many messages to expect. Time: a reduce_scatter of 4 P bytes and a message for each neighbour.
#include <array>
#include <cstdint>

#include "collectives/calls/exchange_calls.h"
#include "collectives/discover/block_messages.h"
#include "collectives/discover/discover.h"
#include "collectives/discover/step.h"
#include "core/run/wait.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

void check(const Status& status) {
  if (!status.ok()) throw Error(status.errc(), "discover: " + status.message);
}

void exchange(BlockMessages& messages, std::uint32_t expected) {
  if (expected > 0) messages.expect();
  messages.send(SendMode::standard);
  while (expected > 0 || messages.sending() != nullptr) {
    const std::array<core::Pending*, 2> pending = {messages.receiving(), messages.sending()};
    core::finish_any(pending);
    check(messages.look_at_sends());
    if (messages.receiving() == nullptr || !messages.receiving()->done()) continue;
    check(messages.take());
    if (--expected > 0) messages.expect();
  }
}

}  // namespace

Discovered discover_census(const std::shared_ptr<core::Communicator>& communicator, const Discovery& call) {
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(communicator->size()));
  for (const Rank to : call.destinations)
    if (to != communicator->rank()) counts[static_cast<std::size_t>(to)] = 1;
  std::uint32_t expected = 0;
  const Layout number = Layout::contiguous(sizeof(expected));
  DiscoverStep sum(
      communicator, DiscoverAlgorithm::census, call,
      reduce_scatter_block_call(number, Operator::of<std::uint32_t>(ReduceOp::sum), communicator->size(), false),
      counts.data(), &expected);
  sum.complete();
  Discovered found;
  BlockMessages messages(communicator, call, sum.place(), found);
  exchange(messages, expected);
  return found;
}

}  // namespace fab::collectives
