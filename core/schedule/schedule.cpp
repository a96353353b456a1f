// Reads a committed schedule.
#include <cstring>
#include <string>

#include "core/schedule/header.h"
#include "fab/error.h"

namespace fab {

const ScheduleHeader& Schedule::header() const noexcept {
  return *reinterpret_cast<const ScheduleHeader*>(storage_->data());
}

template <class Record>
std::span<const Record> Schedule::table(std::uint32_t offset, std::uint32_t count) const noexcept {
  return {reinterpret_cast<const Record*>(bytes().data() + offset), count};
}

Schedule Schedule::from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(ScheduleHeader) || bytes.size() % sizeof(std::uint64_t) != 0)
    throw Error(Errc::invalid_schedule, "Schedule::from_bytes: " + std::to_string(bytes.size()) +
                                            " bytes; a schedule has at least " +
                                            std::to_string(sizeof(ScheduleHeader)) + ", and a multiple of 8");
  auto storage = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(storage->data(), bytes.data(), bytes.size());
  Schedule schedule(std::move(storage));
  schedule.validate();
  return schedule;
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
