#include "core/schedule/freeze.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fab/error.h"

namespace fab {

namespace {

std::uint32_t narrow(std::size_t value) {
  if (value > std::numeric_limits<std::uint32_t>::max())
    throw Error(Errc::invalid_schedule, "commit: more than 2^32 - 1 records or bytes in the tables of a schedule");
  return static_cast<std::uint32_t>(value);
}

}  // namespace

void Freezer::open_round() { rounds_.push_back({narrow(operations_.size()), 0}); }

std::uint32_t Freezer::peer_index(Rank peer) {
  const auto [entry, fresh] = peer_index_.try_emplace(peer, narrow(peers_.size()));
  if (fresh) peers_.push_back(peer);
  return entry->second;
}

void Freezer::add(OperationRecord record, Rank peer, std::span<const std::uint32_t> slots,
                  std::span<const Block> blocks) {
  record.slot = slots.front();
  if (is_message(record.kind)) record.peer = peer_index(peer);
  record.first_block = narrow(blocks_.size());
  record.block_count = narrow(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    add(blocks[i], slots[i]);
    record.bytes += blocks[i].layout.size();
  }
  if (!is_message(record.kind)) record.bytes = blocks.front().layout.size();
  operations_.push_back(record);
  ++rounds_.back().operation_count;
}

void Freezer::add(const Block& block, std::uint32_t slot) {
  BlockRecord record;
  record.slot = slot;
  record.buffer = block.buffer;
  record.bytes = block.layout.size();
  if (block.layout.is_contiguous()) {
    // An empty block has offset 0, for the address of its buffer may be null.
    if (record.bytes > 0) record.offset = block.offset + block.layout.true_lower_bound();
  } else {
    record.offset = block.offset;
    record.first_node = narrow(nodes_.size());
    record.node_count = narrow(block.layout.nodes().size());
    nodes_.insert(nodes_.end(), block.layout.nodes().begin(), block.layout.nodes().end());
  }
  buffer_count_ = std::max(buffer_count_, static_cast<std::uint32_t>(block.buffer) + 1);
  blocks_.push_back(record);
}

std::shared_ptr<const std::vector<std::uint64_t>> Freezer::freeze() const {
  ScheduleHeader header;
  header.scratch_bytes = scratch_bytes_;
  header.buffer_count = buffer_count_;
  std::size_t end = sizeof(header);
  const auto place = [&end](ScheduleHeader::Table& table, std::size_t count, std::size_t record_bytes) {
    table = {narrow(end), narrow(count)};
    end += (count * record_bytes + 7) / 8 * 8;
  };
  place(header.name, name_.size(), 1);
  place(header.peers, peers_.size(), sizeof(Rank));
  place(header.rounds, rounds_.size(), sizeof(RoundRecord));
  place(header.operations, operations_.size(), sizeof(OperationRecord));
  place(header.blocks, blocks_.size(), sizeof(BlockRecord));
  place(header.nodes, nodes_.size(), sizeof(LayoutNode));

  auto storage = std::make_shared<std::vector<std::uint64_t>>(end / sizeof(std::uint64_t));
  const auto write = [&storage](std::uint32_t offset, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(reinterpret_cast<std::byte*>(storage->data()) + offset, from, bytes);
  };
  write(0, &header, sizeof(header));
  write(header.name.offset, name_.data(), name_.size());
  write(header.peers.offset, peers_.data(), peers_.size() * sizeof(Rank));
  write(header.rounds.offset, rounds_.data(), rounds_.size() * sizeof(RoundRecord));
  write(header.operations.offset, operations_.data(), operations_.size() * sizeof(OperationRecord));
  write(header.blocks.offset, blocks_.data(), blocks_.size() * sizeof(BlockRecord));
  write(header.nodes.offset, nodes_.data(), nodes_.size() * sizeof(LayoutNode));
  return storage;
}

}  // namespace fab
