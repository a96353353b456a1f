#include "collectives/calls/exchange_calls.h"

#include <fmt/core.h>

#include "fab/error.h"

namespace fab::collectives {

namespace {

void check_number(Collective collective, std::size_t given, const char* what, int ranks) {
  if (given != static_cast<std::size_t>(ranks))
    throw Error(Errc::invalid_argument,
                fmt::format("{}: {} {}; the communicator has {} ranks", to_string(collective), given, what, ranks));
}

/// Parts, and so what they are counted in, hold whole elements.
void check_elements(const Layout& layout, const Operator& operation) {
  if (operation.element_bytes == 0 || layout.size() % operation.element_bytes != 0)
    throw Error(Errc::invalid_count, fmt::format("reduce_scatter: {} bytes are no whole number of elements of {} bytes",
                                                 layout.size(), operation.element_bytes));
}

CollectiveCall prefix_call(Collective collective, const Layout& block, const Operator& operation, bool in_place) {
  return {.collective = collective,
          .in_place = in_place,
          .bytes = block.size(),
          .send = BlockList::regular(block, 1, 1),
          .recv = BlockList::regular(block, 1, 1),
          .operation = operation};
}

}  // namespace

CollectiveCall alltoall_call(const Layout& block, int ranks, bool in_place) {
  const BlockList blocks = BlockList::regular(block, 1, static_cast<std::size_t>(ranks));
  return {
      .collective = Collective::alltoall, .in_place = in_place, .bytes = block.size(), .send = blocks, .recv = blocks};
}

CollectiveCall alltoallv_call(const BlockList& send, const BlockList& recv, int ranks) {
  check_number(Collective::alltoallv, send.size(), "send blocks", ranks);
  check_number(Collective::alltoallv, recv.size(), "receive blocks", ranks);
  return {.collective = Collective::alltoallv, .bytes = kUnknownBytes, .send = send, .recv = recv};
}

CollectiveCall alltoallv_call(const BlockList& blocks, int ranks) {
  check_number(Collective::alltoallv, blocks.size(), "blocks", ranks);
  return {.collective = Collective::alltoallv, .in_place = true, .bytes = kUnknownBytes, .recv = blocks};
}

CollectiveCall reduce_scatter_call(const Layout& element, Integers counts, const Operator& operation, Rank rank,
                                   int ranks, bool in_place) {
  check_number(Collective::reduce_scatter, counts.size(), "counts", ranks);
  check_elements(element, operation);
  std::size_t elements = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0)
      throw Error(Errc::invalid_count, fmt::format("reduce_scatter: count {} is {}; valid is 0 or more", i, counts[i]));
    elements += static_cast<std::size_t>(counts[i]);
  }
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
  return {.collective = Collective::reduce_scatter,
          .in_place = in_place,
          .bytes = elements * element.size(),
          .send = BlockList::regular(element, elements, 1),
          .recv = BlockList::regular(element, own, 1),
          .counts = counts,
          .operation = operation};
}

CollectiveCall reduce_scatter_block_call(const Layout& block, const Operator& operation, int ranks, bool in_place) {
  check_elements(block, operation);
  const auto blocks = static_cast<std::size_t>(ranks);
  return {.collective = Collective::reduce_scatter,
          .in_place = in_place,
          .bytes = blocks * block.size(),
          .send = BlockList::regular(block, blocks, 1),
          .recv = BlockList::regular(block, 1, 1),
          .operation = operation};
}

CollectiveCall scan_call(const Layout& block, const Operator& operation, bool in_place) {
  return prefix_call(Collective::scan, block, operation, in_place);
}

CollectiveCall exscan_call(const Layout& block, const Operator& operation, bool in_place) {
  return prefix_call(Collective::exscan, block, operation, in_place);
}

}  // namespace fab::collectives
