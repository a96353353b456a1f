// The blocks of one side of a call whose blocks differ in size: one for each rank, or for each neighbour.
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "fab/block_shape.h"
#include "fab/integers.h"

namespace fab {

/// Where the blocks lie in a buffer. Refers to what it is made from, which must live until the call returns, and no
/// longer. What is wrong with it, the call says that it is given to.
class Blocks {
 public:
  /// None, for a rank that need not say.
  Blocks() noexcept = default;
  /// Block i has counts[i] elements of the buffer, the first of them at displacements[i].
  Blocks(Integers counts, Integers displacements) noexcept : counts_(counts), displacements_(displacements) {}
  /// The same in elements of any layout, for buffers that are given by their address.
  Blocks(const Layout& element, Integers counts, Integers displacements) noexcept
      : element_(&element), counts_(counts), displacements_(displacements) {}
  /// Any shape each, in bytes from the first element on: MPI's w forms.
  template <std::ranges::contiguous_range Range>
  requires std::is_same_v<std::ranges::range_value_t<Range>, BlockShape> Blocks(Range&& shapes)
  noexcept  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : shaped_(true), shapes_(std::ranges::data(shapes), std::ranges::size(shapes)) {}

  [[nodiscard]] bool shaped() const noexcept { return shaped_; }
  /// Null: the buffer's.
  [[nodiscard]] const Layout* element() const noexcept { return element_; }
  [[nodiscard]] Integers counts() const noexcept { return counts_; }
  [[nodiscard]] Integers displacements() const noexcept { return displacements_; }
  [[nodiscard]] std::span<const BlockShape> shapes() const noexcept { return shapes_; }

 private:
  bool shaped_ = false;
  const Layout* element_ = nullptr;
  Integers counts_;
  Integers displacements_;
  std::span<const BlockShape> shapes_;
};

/// Blocks without gaps between them, in their order. Owns its counts, so one may be made once for many calls.
class PackedBlocks {
 public:
  explicit PackedBlocks(Integers counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts_.push_back(counts[i]);
      displacements_.push_back(elements_);
      elements_ += counts[i];
    }
  }

  operator Blocks() const& noexcept { return {counts_, displacements_}; }  // NOLINT(google-explicit-constructor)
  /// All together: what a buffer for them has.
  [[nodiscard]] std::size_t elements() const noexcept { return static_cast<std::size_t>(elements_); }
  [[nodiscard]] std::span<const std::int64_t> counts() const noexcept { return counts_; }
  [[nodiscard]] std::span<const std::int64_t> displacements() const noexcept { return displacements_; }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> displacements_;
  std::int64_t elements_ = 0;
};

}  // namespace fab
