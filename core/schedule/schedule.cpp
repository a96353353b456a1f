// Reading a committed schedule.
#include <algorithm>
#include <cstring>
#include <string>

#include "core/schedule/header.h"
#include "fab/error.h"

namespace fab {

namespace {

void require(bool valid, const char* fault) {
  if (!valid) throw Error(Errc::invalid_schedule, std::string("Schedule::from_bytes: ") + fault);
}

bool inside(std::uint64_t first, std::uint64_t count, std::size_t size) { return first + count <= size; }

}  // namespace

const Schedule::Header& Schedule::header() const noexcept {
  return *reinterpret_cast<const Header*>(storage_->data());
}

template <class Record>
std::span<const Record> Schedule::table(std::uint32_t offset, std::uint32_t count) const noexcept {
  return {reinterpret_cast<const Record*>(bytes().data() + offset), count};
}

Schedule Schedule::from_bytes(std::span<const std::byte> bytes) {
  require(bytes.size() >= sizeof(Header) && bytes.size() % sizeof(std::uint64_t) == 0, "wrong length");
  auto storage = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(storage->data(), bytes.data(), bytes.size());
  Schedule schedule(std::move(storage));
  schedule.validate();
  return schedule;
}

// Everything that the readers below index with, so that they need no checks of their own.
void Schedule::validate() const {
  const Header& head = header();
  require(head.magic == Header::kMagic, "not a schedule");
  require(head.version == Header::kVersion, "another version");
  const auto table_inside = [&](const Header::Table& table, std::size_t record_bytes) {
    return table.offset % alignof(std::uint64_t) == 0 &&
           inside(table.offset, std::uint64_t{table.count} * record_bytes, bytes().size());
  };
  require(table_inside(head.name, 1) && table_inside(head.peers, sizeof(Rank)) &&
              table_inside(head.rounds, sizeof(RoundRecord)) &&
              table_inside(head.operations, sizeof(OperationRecord)) &&
              table_inside(head.blocks, sizeof(BlockRecord)) && table_inside(head.nodes, sizeof(LayoutNode)),
          "a table outside the bytes");
  for (const RoundRecord& round : rounds())
    require(inside(round.first_operation, round.operation_count, head.operations.count), "a round outside the table");
  for (const OperationRecord& operation : operations()) {
    require(operation.kind <= OperationKind::copy, "an unknown operation");
    require(operation.kind == OperationKind::copy ? operation.block_count == 2 : operation.peer < head.peers.count,
            "an operation without its peer or blocks");
    require(inside(operation.first_block, operation.block_count, head.blocks.count), "a block outside the table");
  }
  for (const BlockRecord& block : table<BlockRecord>(head.blocks.offset, head.blocks.count))
    require(inside(block.first_node, block.node_count, head.nodes.count) &&
                static_cast<std::uint32_t>(block.buffer) < head.buffer_count,
            "a layout or buffer outside the table");
}

std::string_view Schedule::name() const noexcept {
  const auto characters = table<char>(header().name.offset, header().name.count);
  return {characters.data(), characters.size()};
}

std::span<const Rank> Schedule::peers() const noexcept {
  return table<Rank>(header().peers.offset, header().peers.count);
}

std::span<const RoundRecord> Schedule::rounds() const noexcept {
  return table<RoundRecord>(header().rounds.offset, header().rounds.count);
}

std::span<const OperationRecord> Schedule::operations() const noexcept {
  return table<OperationRecord>(header().operations.offset, header().operations.count);
}

std::span<const OperationRecord> Schedule::operations(const RoundRecord& round) const noexcept {
  return operations().subspan(round.first_operation, round.operation_count);
}

std::span<const BlockRecord> Schedule::blocks(const OperationRecord& operation) const noexcept {
  return table<BlockRecord>(header().blocks.offset, header().blocks.count)
      .subspan(operation.first_block, operation.block_count);
}

std::span<const LayoutNode> Schedule::nodes(const BlockRecord& block) const noexcept {
  return table<LayoutNode>(header().nodes.offset, header().nodes.count).subspan(block.first_node, block.node_count);
}

std::size_t Schedule::scratch_bytes() const noexcept { return header().scratch_bytes; }

std::uint32_t Schedule::buffer_count() const noexcept { return header().buffer_count; }

std::span<const std::byte> Schedule::bytes() const noexcept { return std::as_bytes(std::span(*storage_)); }

bool Schedule::operator==(const Schedule& other) const noexcept { return *storage_ == *other.storage_; }

}  // namespace fab
