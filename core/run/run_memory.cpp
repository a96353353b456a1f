// The local work of a run: packs and unpacks messages, copies and reduces blocks.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/run/run.h"

namespace fab::core {

void Run::hold_memory() {
  struct Pieces {
    std::vector<iovec> sent;
    std::vector<iovec> received;
  };
  std::map<Provider*, Pieces> of_providers;
  for (std::size_t round = 0; round < plan_.round_count(); ++round)
    for (const PlannedOperation& operation : plan_.messages(round)) {
      if (operation.channel != PlannedOperation::kNoChannel) continue;
      if (operation.peer->provider == nullptr) continue;
      const std::span<const iovec> its_memory = memory(operation);
      Pieces& its = of_providers[operation.peer->provider];
      std::vector<iovec>& all = operation.receives() ? its.received : its.sent;
      all.insert(all.end(), its_memory.begin(), its_memory.end());
    }
  for (const auto& [provider, pieces] : of_providers)
    if (auto held = provider->hold(pieces.sent, pieces.received)) held_memory_.push_back(std::move(held));
}

void Run::stage_send(const PlannedOperation& operation) {
  if (operation.frame_bytes > 0 && operation.part != PlannedOperation::Part::later)
    write_frame(plan_.schedule().blocks(*operation.record), plan_.membership().call_word(plan_.schedule()),
                staging_.get() + operation.staging_offset);
  for (const PlannedShare& share : plan_.shares(operation)) {
    std::byte* out = staging_.get() + share.staging_offset;
    const std::byte* base = address(share.block->buffer, share.block->offset);
    if (share.block->node_count == 0)
      std::memcpy(out, base + share.range.first, share.range.bytes);
    else
      pack(plan_.schedule().nodes(*share.block).subspan(share.first_node), base, share.range, out);
  }
}

void Run::unpack(const PlannedOperation& operation) {
  const std::byte* const slot = staging_.get() + (operation.two_slots ? one_sided_->slot_offset(operation) : 0);
  unpack(operation, 0, {slot + operation.staging_offset, operation.message_bytes});
}

void Run::unpack(const PlannedOperation& operation, std::uint64_t offset, std::span<const std::byte> bytes) const {
  for (const PlannedShare& share : plan_.shares(operation)) {
    const std::uint64_t begin = share.staging_offset - operation.staging_offset;
    const std::uint64_t first = std::max(offset, begin);
    const std::uint64_t end = std::min(offset + bytes.size(), begin + share.range.bytes);
    if (first >= end) continue;
    const std::byte* in = bytes.data() + (first - offset);
    const PackedRange range{share.range.first + (first - begin), end - first};
    std::byte* base = address(share.block->buffer, share.block->offset);
    if (share.block->node_count == 0)
      std::memcpy(base + range.first, in, range.bytes);
    else
      fab::unpack(plan_.schedule().nodes(*share.block).subspan(share.first_node), range, in, base);
  }
}

bool Run::calls_user(std::span<const PlannedOperation> operations) noexcept {
  return std::any_of(operations.begin(), operations.end(), [](const PlannedOperation& operation) {
    return operation.kind == OperationKind::reduce && operation.record->reduction.op == ReduceOp::user;
  });
}

void Run::do_operations(std::span<const PlannedOperation> operations) {
  for (const PlannedOperation& operation : operations) {
    if (operation.kind == OperationKind::reduce)
      reduce(operation);
    else if (!copy(operation))
      unequal_ = &operation;
  }
}

// Returns false if the two ends differ in size.
bool Run::copy(const PlannedOperation& operation) {
  const auto blocks = plan_.schedule().blocks(*operation.record);
  const BlockRecord& from = blocks[0];
  const BlockRecord& to = blocks[1];
  if (from.bytes != to.bytes) return false;
  if (from.bytes == 0) return true;
  const std::byte* source = address(from.buffer, from.offset);
  std::byte* target = address(to.buffer, to.offset);
  const auto from_nodes = plan_.schedule().nodes(from);
  const auto to_nodes = plan_.schedule().nodes(to);
  if (from_nodes.empty() && to_nodes.empty()) {
    std::memmove(target, source, from.bytes);
  } else if (to_nodes.empty()) {
    pack(from_nodes, source, target);
  } else if (from_nodes.empty()) {
    fab::unpack(to_nodes, source, target);
  } else {
    std::byte* middle = staging_.get() + operation.staging_offset;
    const std::uint64_t step = bytes_at_once(from, to);
    for (PackedRange range{0, step}; range.first < from.bytes; range.first += step) {
      range.bytes = std::min(step, from.bytes - range.first);
      pack(from_nodes, source, range, middle);
      fab::unpack(to_nodes, range, middle, target);
    }
  }
  return true;
}

void Run::reduce(const PlannedOperation& operation) const {
  const OperationRecord& record = *operation.record;
  if (record.bytes == 0) return;
  const auto blocks = plan_.schedule().blocks(record);
  const std::byte* from = address(blocks[0].buffer, blocks[0].offset);
  std::byte* into = address(blocks[1].buffer, blocks[1].offset);
  const std::size_t elements = record.bytes / record.element_bytes;
  if (record.reduction.op == ReduceOp::user)
    user_.function(user_.context, from, into, elements);
  else
    reduce_elements(record.reduction, from, into, elements);
}

}  // namespace fab::core
