#include "core/layout/tree.h"

#include <algorithm>

#include "core/layout/checked.h"

namespace fab {
namespace {

/// `part` and, right after it in travelling order, `next`.
void append(Summary& part, const Summary& next) {
  if (next.pieces == 0) return;
  if (part.pieces == 0) {
    part = next;
    return;
  }
  part.bytes = size_sum(part.bytes, next.bytes);
  part.pieces += next.pieces - (part.end == next.first ? 1 : 0);
  part.end = next.end;
  part.low = std::min(part.low, next.low);
  part.high = std::max(part.high, next.high);
}

Summary repeat(const LayoutNode& node, Summary one) {
  if (node.count == 0 || one.pieces == 0) return {};
  const std::int64_t last = checked_add(node.offset, reach(node));
  const bool joined = node.count > 1 && one.end == checked_add(one.first, node.stride);
  one.bytes = size_product(one.bytes, node.count);
  one.pieces = one.pieces * node.count - (joined ? node.count - 1 : 0);
  one.first = checked_add(one.first, node.offset);
  one.end = checked_add(one.end, last);
  one.low = checked_add(one.low, std::min(node.offset, last));
  one.high = checked_add(one.high, std::max(node.offset, last));
  return one;
}

Summary block(std::uint64_t bytes) {
  const std::int64_t end = checked_multiply(1, bytes);
  return {.bytes = bytes, .pieces = bytes == 0 ? 0U : 1U, .first = 0, .end = end, .low = 0, .high = end};
}

}  // namespace

Summary summarize(Trees trees) {
  Summary all;
  for_each_tree(trees, [&all](const LayoutNode& root, Trees children) {
    append(all, repeat(root, children.empty() ? block(root.bytes) : summarize(children)));
  });
  return all;
}

std::size_t piece_count(std::span<const LayoutNode> nodes) noexcept { return summarize(nodes).pieces; }

}  // namespace fab
