// Stores the tables of a schedule in one piece of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/schedule/header.h"

namespace fab {

class Freezer {
 public:
  Freezer(std::string name, std::size_t scratch_bytes) : name_(std::move(name)), scratch_bytes_(scratch_bytes) {}

  void open_round();
  /// `record` says of the operation what its blocks do not: kind, reduction, and size of an element. A message has a
  /// peer; there are as many slots as blocks.
  void add(OperationRecord record, Rank peer, std::span<const std::uint32_t> slots, std::span<const Block> blocks);
  [[nodiscard]] std::shared_ptr<const std::vector<std::uint64_t>> freeze() const;

 private:
  void add(const Block& block, std::uint32_t slot);
  [[nodiscard]] std::uint32_t peer_index(Rank peer);

  std::string name_;
  std::size_t scratch_bytes_;
  std::uint32_t buffer_count_ = static_cast<std::uint32_t>(BufferId::user);
  std::vector<Rank> peers_;
  std::unordered_map<Rank, std::uint32_t> peer_index_;
  std::vector<RoundRecord> rounds_;
  std::vector<OperationRecord> operations_;
  std::vector<BlockRecord> blocks_;
  std::vector<LayoutNode> nodes_;
};

}  // namespace fab
