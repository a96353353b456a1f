// Reading the node array of a layout: a list of trees, one after another, each in depth-first order.
#pragma once

#include <cstdint>
#include <span>

#include "fab/layout.h"

namespace fab {

using Trees = std::span<const LayoutNode>;

/// Bytes of data in all repetitions of a node.
[[nodiscard]] inline std::uint64_t packed_bytes(const LayoutNode& node) noexcept { return node.count * node.bytes; }

/// Calls visit(root, children) for each tree of the list.
template <class Visit>
void for_each_tree(Trees trees, Visit&& visit) {
  while (!trees.empty()) {
    const LayoutNode& root = trees.front();
    visit(root, trees.subspan(1, root.nodes - 1));
    trees = trees.subspan(root.nodes);
  }
}

/// What a list of trees amounts to.
struct Summary {
  std::uint64_t bytes = 0;   ///< data
  std::uint64_t pieces = 0;  ///< contiguous pieces, adjacent ones counted as one
  std::int64_t first = 0;    ///< where the first piece begins
  std::int64_t end = 0;      ///< where the last piece ends
  std::int64_t low = 0;      ///< the lowest byte
  std::int64_t high = 0;     ///< one past the highest byte
};

/// Found without walking the repetitions. Throws Error(invalid_argument) when a number does not fit 64 bits.
[[nodiscard]] Summary summarize(Trees trees);

}  // namespace fab
