// What a run does in this rank's memory: messages are packed and unpacked, blocks copied and reduced.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/communicator.h"
#include "core/run.h"

namespace fab::core {

void Run::hold_memory() {
  struct Pieces {
    std::vector<iovec> sent;
    std::vector<iovec> received;
  };
  std::map<Provider*, Pieces> of_providers;
  for (std::size_t round = 0; round < plan_.schedule().rounds().size(); ++round)
    for (const PlannedOperation& operation : plan_.operations(round)) {
      if (!is_message(operation.record->kind) || operation.channel != PlannedOperation::kNoChannel) continue;
      if (operation.peer->provider == nullptr) continue;
      std::array<iovec, kMaxPieces> pieces;
      const std::size_t count = list_memory(operation, pieces);
      Pieces& its = of_providers[operation.peer->provider];
      std::vector<iovec>& all = operation.receives() ? its.received : its.sent;
      all.insert(all.end(), pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count));
    }
  for (const auto& [provider, pieces] : of_providers)
    if (auto held = provider->hold(pieces.sent, pieces.received)) held_memory_.push_back(std::move(held));
}

void Run::stage_send(const PlannedOperation& operation) {
  const auto blocks = plan_.schedule().blocks(*operation.record);
  if (operation.frame_bytes > 0)
    write_frame(blocks, plan_.communicator().call_word(plan_.schedule()), staging_.get() + operation.staging_offset);
  if (!operation.staged) return;
  std::byte* out = staging_.get() + operation.staging_offset + operation.frame_bytes;
  for (const BlockRecord& block : blocks) {
    if (block.bytes == 0) continue;
    const std::byte* base = address(block.buffer, block.offset);
    if (block.node_count == 0)
      std::memcpy(out, base, block.bytes);
    else
      pack(plan_.schedule().nodes(block), base, out);
    out += block.bytes;
  }
}

void Run::unpack(const PlannedOperation& operation) {
  const std::byte* in = staging_.get() + operation.staging_offset + operation.frame_bytes;
  if (operation.two_slots) in += one_sided_->slot_offset(operation);
  for (const BlockRecord& block : plan_.schedule().blocks(*operation.record)) {
    if (block.bytes == 0) continue;
    std::byte* base = address(block.buffer, block.offset);
    if (block.node_count == 0)
      std::memcpy(base, in, block.bytes);
    else
      fab::unpack(plan_.schedule().nodes(block), in, base);
    in += block.bytes;
  }
}

bool Run::calls_user(std::span<const PlannedOperation> operations) noexcept {
  return std::any_of(operations.begin(), operations.end(), [](const PlannedOperation& operation) {
    return operation.record->kind == OperationKind::reduce && operation.record->reduction.op == ReduceOp::user;
  });
}

void Run::do_operations(std::span<const PlannedOperation> operations) {
  for (const PlannedOperation& operation : operations) {
    if (operation.record->kind == OperationKind::reduce)
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
    pack(from_nodes, source, middle);
    fab::unpack(to_nodes, middle, target);
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
    fab::reduce(record.reduction, from, into, elements);
}

}  // namespace fab::core
