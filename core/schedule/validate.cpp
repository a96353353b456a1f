// Validates the bytes of a schedule, so that code that reads and executes it needs no checks.
#include <algorithm>
#include <string>

#include "core/layout/checked.h"
#include "core/layout/tree.h"
#include "core/schedule/header.h"
#include "fab/error.h"

namespace fab {

namespace {

void require(bool valid, const char* fault) {
  if (!valid) throw Error(Errc::invalid_schedule, std::string("Schedule::from_bytes: ") + fault);
}

bool inside(std::uint64_t first, std::uint64_t count, std::size_t size) { return first + count <= size; }

/// Checks lengths and numbers of children all the way down; returns how many trees there are.
std::size_t check_trees(Trees trees) {
  std::size_t count = 0;
  for (; !trees.empty(); ++count) {
    const LayoutNode& root = trees.front();
    require(root.nodes >= 1 && root.nodes <= trees.size(), "a layout node that reaches beyond its layout");
    const Trees children = trees.subspan(1, root.nodes - 1);
    require(check_trees(children) == root.children, "a layout node with a wrong number of children");
    require(children.empty() || summarize(children).bytes == root.bytes,
            "a layout node of another size than its children");
    trees = trees.subspan(root.nodes);
  }
  return count;
}

void check_block(const BlockRecord& block, Trees nodes, std::size_t scratch_bytes) {
  check_trees(nodes);
  Summary data{.bytes = block.bytes, .low = 0, .high = checked_add(0, checked_multiply(1, block.bytes))};
  if (!nodes.empty()) data = summarize(nodes);
  require(data.bytes == block.bytes, "a block of another size than its layout");
  const std::int64_t low = checked_add(block.offset, data.low);
  const std::int64_t high = checked_add(block.offset, data.high);
  require(block.buffer != BufferId::scratch || block.bytes == 0 ||
              (low >= 0 && static_cast<std::uint64_t>(high) <= scratch_bytes),
          "a block outside scratch");
}

void check_reduce(const OperationRecord& operation, std::span<const BlockRecord> blocks) {
  const Reduction& reduction = operation.reduction;
  require(reduction.op == ReduceOp::user ||
              (is_defined(reduction) && element_bytes(reduction.type) == operation.element_bytes),
          "a reduction that is not defined");
  require(operation.element_bytes > 0 && operation.bytes % operation.element_bytes == 0,
          "a reduction of parts of elements");
  require(blocks[0].node_count == 0 && blocks[1].node_count == 0 && blocks[0].bytes == blocks[1].bytes,
          "a reduction of blocks that do not match");
}

}  // namespace

void Schedule::validate() const {
  validate_tables();
  for (const Rank peer : peers()) require(peer >= 0, "a negative rank");
  for (const RoundRecord& round : rounds())
    require(inside(round.first_operation, round.operation_count, operations().size()), "a round outside the table");
  auto buffer_count = static_cast<std::uint32_t>(BufferId::user);
  for (const OperationRecord& operation : operations()) {
    validate_operation(operation);
    for (const BlockRecord& block : blocks(operation))
      buffer_count = std::max(buffer_count, static_cast<std::uint32_t>(block.buffer) + 1);
  }
  require(buffer_count == header().buffer_count, "another number of buffers than the operations name");
}

void Schedule::validate_tables() const {
  const ScheduleHeader& head = header();
  require(head.magic == ScheduleHeader::kMagic, "not a schedule");
  require(head.version == ScheduleHeader::kVersion, "another version");
  const auto table_inside = [&](const ScheduleHeader::Table& table, std::size_t record_bytes) {
    return table.offset % alignof(std::uint64_t) == 0 &&
           inside(table.offset, std::uint64_t{table.count} * record_bytes, bytes().size());
  };
  require(table_inside(head.name, 1) && table_inside(head.peers, sizeof(Rank)) &&
              table_inside(head.rounds, sizeof(RoundRecord)) &&
              table_inside(head.operations, sizeof(OperationRecord)) &&
              table_inside(head.blocks, sizeof(BlockRecord)) && table_inside(head.nodes, sizeof(LayoutNode)),
          "a table outside the bytes");
}

void Schedule::validate_operation(const OperationRecord& operation) const try {
  const ScheduleHeader& head = header();
  require(operation.kind <= OperationKind::reduce, "an unknown operation");
  const bool local = !is_message(operation.kind);
  require(local ? operation.block_count == 2 : operation.block_count > 0 && operation.peer < head.peers.count,
          "an operation without its peer or blocks");
  require(inside(operation.first_block, operation.block_count, head.blocks.count), "a block outside the table");
  std::uint64_t bytes = 0;
  for (const BlockRecord& block : blocks(operation)) {
    require(inside(block.first_node, block.node_count, head.nodes.count), "a layout outside the table");
    check_block(block, nodes(block), scratch_bytes());
    bytes = size_sum(bytes, block.bytes);
  }
  require(operation.bytes == (local ? blocks(operation)[0].bytes : bytes),
          "an operation of another size than its blocks");
  if (operation.kind == OperationKind::reduce) check_reduce(operation, blocks(operation));
} catch (const Error& error) {
  if (error.errc() == Errc::invalid_schedule) throw;
  require(false, "a size or offset beyond 2^63 - 1 bytes");
}

}  // namespace fab
