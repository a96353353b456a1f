// Blocks of random shape whose pieces are listed, so that a transfer can be checked without fab.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "fab/block_shape.h"

namespace fab::test {

struct ScatteredBlock {
  struct Piece {
    std::size_t offset;  ///< from the buffer's address
    std::size_t bytes;
  };

  BlockShape shape;
  std::vector<Piece> pieces;  ///< in travelling order
  std::size_t bytes = 0;

  /// Writes the block's bytes to their places.
  void put(std::span<const std::byte> data, std::vector<std::byte>& buffer) const {
    std::size_t at = 0;
    for (const Piece& piece : pieces) {
      std::memcpy(buffer.data() + piece.offset, data.data() + at, piece.bytes);
      at += piece.bytes;
    }
  }
};

/// Blocks one after another, with gaps inside and between that must not be touched.
class ScatteredBlocks {
 public:
  explicit ScatteredBlocks(std::uint32_t seed) : random_(seed) {}

  /// Adds a block of so many bytes in at most `pieces` pieces.
  void add(std::size_t bytes, std::size_t pieces) {
    ScatteredBlock block;
    block.bytes = bytes;
    block.shape.offset = static_cast<std::ptrdiff_t>(end_ + random_() % 9);
    std::vector<std::size_t> lengths;
    std::vector<std::ptrdiff_t> displacements;
    std::size_t at = 0;
    for (std::size_t left = bytes; left > 0; --pieces) {
      const std::size_t length = pieces <= 1 ? left : 1 + random_() % left;
      lengths.push_back(length);
      displacements.push_back(static_cast<std::ptrdiff_t>(at));
      block.pieces.push_back({static_cast<std::size_t>(block.shape.offset) + at, length});
      at += length + 1 + random_() % 20;
      left -= length;
    }
    block.shape.layout = Layout::indexed(lengths, displacements, Layout::contiguous(1));
    end_ = static_cast<std::size_t>(block.shape.offset) + at;
    blocks_.push_back(std::move(block));
  }

  [[nodiscard]] const std::vector<ScatteredBlock>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return end_ + 16; }
  [[nodiscard]] std::vector<BlockShape> shapes() const {
    std::vector<BlockShape> result;
    for (const ScatteredBlock& block : blocks_) result.push_back(block.shape);
    return result;
  }

 private:
  std::mt19937 random_;
  std::size_t end_ = 0;
  std::vector<ScatteredBlock> blocks_;
};

}  // namespace fab::test
