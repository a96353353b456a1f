// The shape that all copies of one Layout share.
#pragma once

#include <utility>
#include <vector>

#include "core/layout/tree.h"

namespace fab {

struct Layout::Shape {
  Shape(std::vector<LayoutNode> trees, std::ptrdiff_t lower, std::ptrdiff_t length)
      : nodes(std::move(trees)), summary(summarize(nodes)), lower_bound(lower), extent(length), hash(hash_of(*this)) {}

  static std::uint64_t hash_of(const Shape& shape) noexcept;

  std::vector<LayoutNode> nodes;
  Summary summary;
  std::ptrdiff_t lower_bound;
  std::ptrdiff_t extent;
  std::uint64_t hash;  ///< of all the others: last
};

}  // namespace fab
