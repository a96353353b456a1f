// Operations that combine elements.
#include "bindings/native/operations/operation_sizes.h"
#include "bindings/native/operations/performing.h"
#include "collectives/calls/exchange_calls.h"

namespace fab::detail {

using collectives::CollectiveCall;
using namespace native;

namespace {

void check_combining(const ReduceCall& call) {
  const Reduction reduction = call.combine.reduction;
  if (reduction.op != ReduceOp::user && !is_defined(reduction))
    throw Error(Errc::invalid_argument,
                fmt::format("{}: {} is not defined", name_of(call.operation), to_string(reduction)));
}

/// Of a whole vector.
std::size_t vector_elements(const Communicator& communicator, const ReduceCall& call) {
  if (call.in_place) return call.recv_elements;
  if (call.operation != OperationName::reduce || communicator.rank() == call.root.rank) check_equal(call);
  return call.send_elements;
}

/// Of this rank's part, where all have the same.
std::size_t part_elements(const Communicator& communicator, const ReduceCall& call) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const std::size_t vector = call.in_place ? call.recv_elements : call.send_elements;
  const std::size_t block = call.in_place ? vector / ranks : call.recv_elements;
  if (vector != block * ranks)
    refuse(call, "a vector of {} elements; the blocks of {} ranks have {}", vector, ranks, block * ranks);
  return block;
}

/// Counts are for the elements of a vector together, and this rank's is what it receives. Another number of counts than
/// ranks, and counts below 0, are refused later.
void check_counted(const Communicator& communicator, const ReduceCall& call) {
  if (call.counts.size() != static_cast<std::size_t>(communicator.size())) return;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < call.counts.size(); ++i) {
    if (call.counts[i] < 0) return;
    total += call.counts[i];
  }
  const std::size_t vector = call.in_place ? call.recv_elements : call.send_elements;
  const std::int64_t own = call.counts[static_cast<std::size_t>(communicator.rank())];
  if (vector != static_cast<std::size_t>(total))
    refuse(call, "{} elements to send; the counts add up to {}", vector, total);
  if (!call.in_place && call.recv_elements != static_cast<std::size_t>(own))
    refuse(call, "{} elements to receive; the count of this rank is {}", call.recv_elements, own);
}

CollectiveCall collective(const Communicator& communicator, const ReduceCall& call, const Layout& layout) {
  switch (call.operation) {
    case OperationName::reduce:
      return collectives::reduce_call(layout, call.combine, call.root.rank, call.in_place);
    case OperationName::reduce_scatter:
      return collectives::reduce_scatter_call(layout, call.counts, call.combine, communicator.rank(),
                                              communicator.size(), call.in_place);
    case OperationName::reduce_scatter_block:
      return collectives::reduce_scatter_block_call(layout, call.combine, communicator.size(), call.in_place);
    case OperationName::scan:
      return collectives::scan_call(layout, call.combine, call.in_place);
    case OperationName::exscan:
      return collectives::exscan_call(layout, call.combine, call.in_place);
    default:
      return collectives::allreduce_call(layout, call.combine, call.in_place);
  }
}

}  // namespace

template <class Use>
auto prepared(const Communicator& communicator, const ReduceCall& call, Use&& use) {
  check_combining(call);
  const BlockLayout layout(call, [&] {
    if (call.operation == OperationName::reduce_scatter_block) return part_elements(communicator, call);
    if (call.operation != OperationName::reduce_scatter) return vector_elements(communicator, call);
    check_counted(communicator, call);
    return std::size_t{1};
  });
  return use(PreparedCollective{{call.send, call.recv}, collective(communicator, call, *layout)});
}

template void perform(const Communicator&, const ReduceCall&);
template Request start(const Communicator&, const ReduceCall&);
template PersistentExchange persistent(const Communicator&, const ReduceCall&);
template Status try_perform(const Communicator&, const ReduceCall&) noexcept;
template Result<Request> try_start(const Communicator&, const ReduceCall&) noexcept;
template Result<PersistentExchange> try_persistent(const Communicator&, const ReduceCall&) noexcept;

}  // namespace fab::detail
