#include "core/run/kept_data.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/layout/tree.h"

namespace fab::core {

namespace {

/// What a schedule reads from a buffer: pieces from its base on.
class Reading {
 public:
  Reading(const Schedule& schedule, BufferId buffer) : schedule_(schedule), buffer_(buffer) {
    for (const OperationRecord& operation : schedule.operations()) look_at(operation);
  }

  /// Some, of which nothing is written.
  [[nodiscard]] bool may_be_kept() const noexcept {
    return !written_ && !pieces_.empty() && bytes_ <= KeptData::kMostBytes &&
           static_cast<std::uint64_t>(high() - low()) <= KeptData::kMostBytes;
  }
  [[nodiscard]] std::int64_t low() const noexcept { return std::ranges::min(pieces_, {}, &Piece::offset).offset; }
  [[nodiscard]] std::int64_t high() const noexcept { return end_of(std::ranges::max(pieces_, {}, end_of)); }
  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }

 private:
  static std::int64_t end_of(const Piece& piece) noexcept {
    return piece.offset + static_cast<std::int64_t>(piece.bytes);
  }

  void look_at(const OperationRecord& operation) {
    const auto blocks = schedule_.blocks(operation);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].buffer != buffer_ || blocks[i].bytes == 0) continue;
      const bool is_source = operation.kind == OperationKind::send || (operation.kind != OperationKind::recv && i == 0);
      if (!is_source)
        written_ = true;
      else if (!written_ && bytes_ <= KeptData::kMostBytes)
        add(blocks[i]);
    }
  }

  void add(const BlockRecord& block) {
    bytes_ += block.bytes;
    if (bytes_ > KeptData::kMostBytes) return;
    if (block.node_count == 0) {
      pieces_.push_back({block.offset, block.bytes});
      return;
    }
    const auto nodes = schedule_.nodes(block);
    const std::size_t before = pieces_.size();
    pieces_.resize(before + piece_count(nodes));
    const auto added = std::span(pieces_).subspan(before);
    list_pieces(nodes, added);
    for (Piece& piece : added) piece.offset += block.offset;
  }

  const Schedule& schedule_;
  BufferId buffer_;
  bool written_ = false;
  std::uint64_t bytes_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace

KeptData::KeptData(const Schedule& schedule, std::span<std::byte*> bases) {
  for (std::size_t i = 0; i < schedule.buffer_count(); ++i) {
    const auto buffer = static_cast<BufferId>(i);
    if (buffer == BufferId::scratch) continue;
    if (bases[i] == nullptr) continue;  // MPI_BOTTOM: its offsets are addresses
    const Reading reading(schedule, buffer);
    if (!reading.may_be_kept()) continue;
    const std::int64_t low = reading.low();
    auto copy = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(reading.high() - low));
    for (const Piece& piece : reading.pieces())
      std::memcpy(copy.get() + (piece.offset - low), bases[i] + piece.offset, piece.bytes);
    std::byte* const base = copy.get() - low;
    kept_.push_back({i, bases[i], base, std::move(copy)});
    bases[i] = base;
  }
}

void KeptData::let_go(std::span<std::byte*> bases) const noexcept {
  for (const Kept& kept : kept_)
    if (bases[kept.buffer] == kept.own) bases[kept.buffer] = kept.users;
}

}  // namespace fab::core
