#include "bindings/native/operations/operation_sizes.h"

namespace fab::native {

namespace {

constexpr std::string_view kNames[] = {"barrier",
                                       "bcast",
                                       "reduce",
                                       "allreduce",
                                       "gather",
                                       "gatherv",
                                       "scatter",
                                       "scatterv",
                                       "allgather",
                                       "allgatherv",
                                       "alltoall",
                                       "alltoallv",
                                       "reduce_scatter",
                                       "reduce_scatter_block",
                                       "scan",
                                       "exscan",
                                       "neighbor_xchg",
                                       "neighbor_xchgv",
                                       "cart_shift_xchg",
                                       "neighbor_allgather",
                                       "neighbor_allgatherv",
                                       "neighbor_alltoall",
                                       "neighbor_alltoallv"};
static_assert(std::size(kNames) == static_cast<std::size_t>(OperationName::neighbor_alltoallv) + 1);

void check_counts(const CallBuffers& call, const Blocks& blocks) {
  const Integers counts = blocks.counts();
  if (counts.size() != blocks.displacements().size())
    refuse(call, "there are {} counts and {} displacements; the numbers must be equal", counts.size(),
           blocks.displacements().size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] < 0) refuse(call, "counts[{}] is {}; valid is 0 or more", i, counts[i]);
}

/// Of a typed call.
void check_inside(const CallBuffers& call, const Blocks& blocks, std::size_t elements) {
  for (std::size_t i = 0; i < blocks.counts().size(); ++i) {
    const std::int64_t first = blocks.displacements()[i];
    const auto count = static_cast<std::uint64_t>(blocks.counts()[i]);
    if (first < 0 || count > elements || static_cast<std::uint64_t>(first) > elements - count)
      refuse(call, "block {} has {} elements from {} on; the buffer has {} elements", i, count, first, elements);
  }
}

void check_shapes_inside(const CallBuffers& call, std::span<const BlockShape> shapes, std::size_t elements) {
  const auto bytes = static_cast<std::ptrdiff_t>(elements * call.element_bytes);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [offset, layout] = shapes[i];
    if (layout.size() == 0) continue;
    const std::ptrdiff_t begin = offset + layout.true_lower_bound();
    const std::ptrdiff_t end = offset + layout.true_upper_bound();
    if (begin < 0 || end > bytes)
      refuse(call, "block {} lies in bytes {} to {}; the buffer has {} bytes", i, begin, end, bytes);
  }
}

}  // namespace

std::string_view name_of(OperationName operation) noexcept { return kNames[static_cast<std::size_t>(operation)]; }

ListedBlocks::ListedBlocks(const CallBuffers& call, const Blocks& blocks, std::size_t elements) {
  if (blocks.shaped()) {
    if (is_typed(call)) check_shapes_inside(call, blocks.shapes(), elements);
    list_ = collectives::BlockList::general(blocks.shapes());
    return;
  }
  check_counts(call, blocks);
  if (blocks.element() == nullptr) {
    if (!is_typed(call) && !blocks.counts().empty())
      throw Error(Errc::invalid_argument,
                  fmt::format("{}: the blocks are without the layout of an element; a buffer that is given by address "
                              "needs one",
                              name_of(call.operation)));
    check_inside(call, blocks, elements);
    element_ = Layout::contiguous(call.element_bytes);
  }
  list_ = collectives::BlockList::irregular(element_ ? *element_ : *blocks.element(), blocks.counts(),
                                            blocks.displacements());
}

std::size_t elements_per_block(const CallBuffers& call, std::size_t elements, std::size_t blocks) {
  if (blocks == 0 ? elements != 0 : elements % blocks != 0)
    refuse(call, "the buffer has {} elements; valid is a multiple of {}", elements, blocks);
  return blocks == 0 ? 0 : elements / blocks;
}

void check_equal(const CallBuffers& call) {
  if (!call.in_place && call.send_elements != call.recv_elements)
    refuse(call, "{} elements to send, {} to receive; the numbers must be equal", call.send_elements,
           call.recv_elements);
}

}  // namespace fab::native
