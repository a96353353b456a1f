// Blocks: the place and size of each block in a buffer, for calls whose blocks differ in size. One per rank or
// neighbour.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "fab/block_shape.h"
#include "fab/integers.h"

namespace fab {

/// The places of the blocks in a buffer. It refers to the arrays that it is made from; they must live until the call
/// returns, and no longer. The call that is given the blocks checks them.
class Blocks {
 public:
  /// No blocks, for a rank that need not give any.
  Blocks() noexcept = default;
  /// Block i has counts[i] elements of the buffer and begins at element displacements[i].
  Blocks(Integers counts, Integers displacements) noexcept : counts_(counts), displacements_(displacements) {}
  /// As above, in elements of any layout, for buffers that are given by address.
  Blocks(const Layout& element, Integers counts, Integers displacements) noexcept
      : element_(&element), counts_(counts), displacements_(displacements) {}
  /// One shape per block, with offsets in bytes from the first element (MPI's w forms).
  template <std::ranges::contiguous_range Range>
  requires std::is_same_v<std::ranges::range_value_t<Range>, BlockShape> Blocks(Range&& shapes)
  noexcept  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : shaped_(true), shapes_(std::ranges::data(shapes), std::ranges::size(shapes)) {}

  /// Whether the blocks were given as shapes; otherwise as counts and displacements.
  [[nodiscard]] bool shaped() const noexcept { return shaped_; }
  /// The layout of an element. Null: an element of the buffer, or shapes.
  [[nodiscard]] const Layout* element() const noexcept { return element_; }
  /// @{
  /// The arrays that the object was made from, with one entry per block; empty if it was made from others.
  [[nodiscard]] Integers counts() const noexcept { return counts_; }
  [[nodiscard]] Integers displacements() const noexcept { return displacements_; }
  [[nodiscard]] std::span<const BlockShape> shapes() const noexcept { return shapes_; }
  /// @}

 private:
  bool shaped_ = false;
  const Layout* element_ = nullptr;
  Integers counts_;
  Integers displacements_;
  std::span<const BlockShape> shapes_;
};

/// Blocks without gaps between them, in order. The object owns its counts, so it can be made once for many calls.
class PackedBlocks {
 public:
  /// Block i has counts[i] elements, and begins behind block i - 1. A call that gets the blocks refuses counts below 0.
  explicit PackedBlocks(Integers counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts_.push_back(counts[i]);
      displacements_.push_back(elements_);
      elements_ += counts[i];
    }
  }

  /// Blocks that refer to this object's arrays, which must outlive them.
  operator Blocks() const& noexcept { return {counts_, displacements_}; }  // NOLINT(google-explicit-constructor)
  /// The number of elements of all blocks together: the size that a buffer for them needs.
  [[nodiscard]] std::size_t elements() const noexcept { return static_cast<std::size_t>(elements_); }
  /// The number of elements of each block.
  [[nodiscard]] std::span<const std::int64_t> counts() const noexcept { return counts_; }
  /// The element of the buffer at which each block begins: the sum of the counts before it.
  [[nodiscard]] std::span<const std::int64_t> displacements() const noexcept { return displacements_; }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> displacements_;
  std::int64_t elements_ = 0;
};

}  // namespace fab
