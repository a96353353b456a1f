// Building the node array of a layout in normal form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/tree.h"

namespace fab {

/// A growing list of trees, in travelling order. Normal form, kept by every call:
///  - no node without data; a node with count 1 is a leaf with stride 0;
///  - a leaf's repetitions do not touch (else they are one block), neither do neighbouring leaves;
///  - two loops of which one continues the other are one loop, side by side as well as nested;
///  - equal trees side by side are a loop;
///  - the first child of a node has offset 0.
/// So the same pieces, whether they come from vectors, index lists or boxes, end as the same nodes. (Two
/// exceptions, which cost only memory: pieces that touch across the end of an inner node stay apart, and a
/// sequence of several unlike trees is found to repeat itself only when it was added as a unit.)
/// Every call throws Error(invalid_argument) when a size or offset does not fit 64 bits.
class Forest {
 public:
  /// Adds trees that are in normal form, `offset` bytes further on.
  void append(Trees trees, std::int64_t offset);
  /// Adds `count` repetitions of a list in normal form, `stride` bytes apart.
  void append_loop(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees body);
  /// append_loop, but even a single repetition of several trees is kept together, so that equal units at regular
  /// distances are recognised. The list needs `ungrouped` in the end.
  void append_unit(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees body);

  [[nodiscard]] Trees trees() const noexcept { return nodes_; }
  /// The list with units of a single repetition replaced by what they hold.
  [[nodiscard]] Forest ungrouped() const;
  [[nodiscard]] std::vector<LayoutNode> take() && { return std::move(nodes_); }

 private:
  void loop_over_tree(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees tree);
  void loop_over_list(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees body);
  void push(LayoutNode root, Trees children);
  void pop() noexcept;
  bool merge_last_two();
  bool join_touching_leaves();
  bool continue_loop();
  bool extend_last();
  bool extend_first();
  bool pair_up();

  [[nodiscard]] Trees last() const noexcept { return Trees(nodes_).subspan(starts_.back()); }
  [[nodiscard]] Trees last_but_one() const noexcept;
  [[nodiscard]] LayoutNode& last_root() noexcept { return nodes_[starts_.back()]; }
  [[nodiscard]] LayoutNode& last_but_one_root() noexcept { return nodes_[starts_[starts_.size() - 2]]; }

  std::vector<LayoutNode> nodes_;
  std::vector<std::size_t> starts_;  ///< where each tree begins
};

}  // namespace fab
