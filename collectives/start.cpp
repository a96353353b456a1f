#include "collectives/start.h"

#include <fmt/core.h>

#include "collectives/calls/brief.h"
#include "collectives/calls/buffers.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/calls/words.h"
#include "collectives/choice/select.h"
#include "core/context.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

void check(const core::Communicator& communicator, const CollectiveCall& call) {
  if (call.root < 0 || call.root >= communicator.size())
    throw Error(Errc::invalid_rank, fmt::format("{}: root {}; the communicator has ranks 0 to {}",
                                                to_string(call.collective), call.root, communicator.size() - 1));
  const std::size_t element = call.operation.element_bytes;
  if (element > 0 && call.bytes % element != 0)
    throw Error(Errc::invalid_count, fmt::format("{}: {} bytes are no whole number of elements of {} bytes",
                                                 to_string(call.collective), call.bytes, element));
}

/// What a schedule depends on besides the communicator.
void describe(const CollectiveCall& call, core::CallShape& shape) {
  const Operator& operation = call.operation;
  shape.add(static_cast<std::uint64_t>(call.root) << 32 | static_cast<std::uint64_t>(operation.reduction.op) << 16 |
            static_cast<std::uint64_t>(operation.reduction.type) << 8 | (operation.commutative ? 2u : 0u) |
            (call.in_place ? 1u : 0u));
  shape.add(static_cast<std::uint64_t>(operation.element_bytes));
  call.send.describe(shape);
  call.recv.describe(shape);
  for (std::size_t i = 0; i < call.counts.size(); ++i) shape.add(call.counts[i]);
}

/// Bits 2 to 7 of the first word are clear.
core::CallBrief brief_of(const CollectiveCall& call) noexcept {
  if (!call.counts.empty()) return {};
  const Operator& operation = call.operation;
  const std::uint64_t head = static_cast<std::uint64_t>(call.root) << 32 | key_of(call.collective) << 24 |
                             static_cast<std::uint64_t>(operation.reduction.op) << 16 |
                             static_cast<std::uint64_t>(operation.reduction.type) << 8 |
                             (operation.commutative ? 2u : 0u) | (call.in_place ? 1u : 0u);
  return brief_of(head, call.send, call.recv, operation.element_bytes);
}

core::PlanSource build_for(const core::Communicator& communicator, const CollectiveCall& started) {
  const CollectiveCall call = made_on(communicator, started);
  const Config& config = communicator.context().config();
  const Algorithm& algorithm = select(call, config);
  return {build(algorithm, call, commit_options(algorithm, call, config)), algorithm.name};
}

/// Empty where the communicator compares no calls.
std::string compared_words(const core::Communicator& communicator, const CollectiveCall& call) {
  if (!communicator.compares_calls()) return {};
  const CollectiveCall made = made_on(communicator, call);
  return words_of(made, select(made, communicator.context().config()).name);
}

}  // namespace

CollectiveCall made_on(const core::Communicator& communicator, CollectiveCall call) {
  call.rank = communicator.rank();
  call.ranks = communicator.size();
  call.one_node = communicator.is_on_one_node();
  call.crowded = call.one_node && communicator.runtime().is_crowded();
  if (!call.one_node) call.nodes = communicator.nodes();
  call.over_tcp = !communicator.runtime().has_card();
  const Config& config = communicator.context().config();
  call.checked = config.check;
  call.rules = config.file_rules.get();
  return call;
}

const Algorithm& algorithm_for(const core::Communicator& communicator, const CollectiveCall& call) {
  return select(made_on(communicator, call), communicator.context().config());
}

core::Run& start(core::Communicator& communicator, const void* send, void* recv, const CollectiveCall& call) {
  check(communicator, call);
  const auto bases = buffers(send, recv);
  return start_by_brief(communicator, brief_of(call), call.send, call.recv, bases, call.operation.user,
                        [&]() FAB_REQUIRES(core::engine_lock) -> core::Run& {
                          return communicator.start(
                              key_of(call.collective), [&](core::CallShape& shape) { describe(call, shape); }, bases,
                              [&] { return build_for(communicator, call); }, call.operation.user,
                              compared_words(communicator, call));
                        });
}

core::Persistent make(const std::shared_ptr<core::Communicator>& communicator, const void* send, void* recv,
                      const CollectiveCall& call) {
  check(*communicator, call);
  return {communicator, build_for(*communicator, call), buffers(send, recv), call.operation.user,
          compared_words(*communicator, call)};
}

CollectiveCall barrier_call() { return {.collective = Collective::barrier}; }

CollectiveCall bcast_call(const Layout& block, Rank root) {
  return {
      .collective = Collective::bcast, .root = root, .bytes = block.size(), .recv = BlockList::regular(block, 1, 1)};
}

CollectiveCall reduce_call(const Layout& block, const Operator& operation, Rank root, bool in_place) {
  return {.collective = Collective::reduce,
          .root = root,
          .in_place = in_place,
          .bytes = block.size(),
          .send = BlockList::regular(block, 1, 1),
          .recv = BlockList::regular(block, 1, 1),
          .operation = operation};
}

CollectiveCall allreduce_call(const Layout& block, const Operator& operation, bool in_place) {
  return {.collective = Collective::allreduce,
          .in_place = in_place,
          .bytes = block.size(),
          .send = BlockList::regular(block, 1, 1),
          .recv = BlockList::regular(block, 1, 1),
          .operation = operation};
}

}  // namespace fab::collectives
