// The blocks of all ranks in one buffer, for calls whose blocks differ in size.
#pragma once

#include <span>
#include <string>

#include "fab/block_shape.h"
#include "fab/error.h"

namespace fab {

/// A block of each rank, in the order of ranks. Refers to what it is made from, which must live until the call returns,
/// but not longer.
class RankBlocks {
 public:
  /// None, for ranks that need not say.
  RankBlocks() = default;
  /// Any shape each.
  RankBlocks(std::span<const BlockShape> shapes) noexcept : shapes_(shapes) {}  // NOLINT(google-explicit-constructor)
  /// Block i has counts[i] elements from displacements[i] extents of an element on. Throws Error(invalid_count) for a
  /// negative count or arrays of different lengths.
  RankBlocks(const Layout& element, std::span<const int> counts, std::span<const int> displacements)
      : element_(&element), counts_(counts), displacements_(displacements) {
    if (counts.size() != displacements.size())
      throw Error(Errc::invalid_count, "blocks of ranks: " + std::to_string(counts.size()) + " counts, " +
                                           std::to_string(displacements.size()) + " displacements");
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] < 0)
        throw Error(Errc::invalid_count,
                    "blocks of ranks: count " + std::to_string(i) + " is " + std::to_string(counts[i]));
  }

  /// Null unless there are counts.
  [[nodiscard]] const Layout* element() const noexcept { return element_; }
  [[nodiscard]] std::span<const int> counts() const noexcept { return counts_; }
  [[nodiscard]] std::span<const int> displacements() const noexcept { return displacements_; }
  [[nodiscard]] std::span<const BlockShape> shapes() const noexcept { return shapes_; }

 private:
  const Layout* element_ = nullptr;
  std::span<const int> counts_;
  std::span<const int> displacements_;
  std::span<const BlockShape> shapes_;
};

}  // namespace fab
