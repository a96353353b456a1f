#include "core/layout/forest.h"

#include <algorithm>
#include <utility>

#include "core/layout/checked.h"

namespace fab {
namespace {

/// Do two trees repeat the same thing? Everything below a root is relative to it, wherever it lies.
bool same_repetition(Trees a, Trees b) noexcept {
  return a.front().bytes == b.front().bytes && std::ranges::equal(a.subspan(1), b.subspan(1));
}

bool same_tree(Trees a, Trees b) noexcept {
  return same_repetition(a, b) && a.front().count == b.front().count && a.front().stride == b.front().stride;
}

/// Is `loop` a loop over exactly the tree `unit`?
bool repeats(Trees loop, Trees unit) noexcept { return loop.front().children == 1 && same_tree(loop.subspan(1), unit); }

/// Bytes from the last repetition of one root to the first of the next.
std::int64_t gap(const LayoutNode& a, const LayoutNode& b) {
  return checked_subtract(b.offset, checked_add(a.offset, reach(a)));
}

/// A leaf without its first `skip` and its last `drop` repetitions.
LayoutNode part_of(LayoutNode leaf, std::uint64_t skip, std::uint64_t drop) noexcept {
  if (skip > 0) leaf.offset += leaf.stride;
  leaf.count -= skip + drop;
  if (leaf.count <= 1) leaf.stride = 0;
  return leaf;
}

LayoutNode repeat_block(LayoutNode block, std::uint64_t count, std::int64_t stride) {
  if (stride == checked_multiply(1, block.bytes)) {
    block.bytes = size_product(count, block.bytes);
  } else {
    block.count = count;
    block.stride = stride;
  }
  return block;
}

}  // namespace

void Forest::append(Trees trees, std::int64_t offset) {
  for_each_tree(trees, [&](LayoutNode root, Trees children) {
    root.offset = checked_add(root.offset, offset);
    push(root, children);
  });
}

void Forest::append_loop(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees body) {
  if (count == 1) return append(body, offset);
  append_unit(count, stride, offset, body);
}

void Forest::append_unit(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees body) {
  if (count == 0 || body.empty()) return;
  if (count == 1) stride = 0;
  if (body.front().nodes == body.size()) return loop_over_tree(count, stride, offset, body);
  loop_over_list(count, stride, offset, body);
}

void Forest::loop_over_tree(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees tree) {
  LayoutNode root = tree.front();
  const bool continues = root.count > 1 && stride == checked_multiply(root.count, root.stride);
  if (count > 1 && root.count > 1 && !continues) return loop_over_list(count, stride, offset, tree);
  root.offset = checked_add(root.offset, offset);
  if (count > 1 && continues) {
    root.count = size_product(count, root.count);
  } else if (count > 1) {
    root = repeat_block(root, count, stride);
  }
  push(root, tree.subspan(1));
}

void Forest::loop_over_list(std::uint64_t count, std::int64_t stride, std::int64_t offset, Trees body) {
  const std::int64_t first = body.front().offset;
  LayoutNode root{
      .offset = checked_add(offset, first), .stride = stride, .count = count, .bytes = summarize(body).bytes};
  std::vector<LayoutNode> children(body.begin(), body.end());
  for (std::size_t i = 0; i < children.size(); i += children[i].nodes) {
    root.children += 1;
    root.nodes += children[i].nodes;
    children[i].offset = checked_subtract(children[i].offset, first);
  }
  push(root, children);
}

Forest Forest::ungrouped() const {
  Forest result;
  for_each_tree(nodes_, [&result](const LayoutNode& root, Trees children) {
    if (root.count == 1 && root.children > 0) return result.append(children, root.offset);
    result.push(root, children);
  });
  return result;
}

void Forest::push(LayoutNode root, Trees children) {
  starts_.push_back(nodes_.size());
  nodes_.push_back(root);
  nodes_.insert(nodes_.end(), children.begin(), children.end());
  while (starts_.size() >= 2 && merge_last_two()) continue;
}

void Forest::pop() noexcept {
  nodes_.resize(starts_.back());
  starts_.pop_back();
}

Trees Forest::last_but_one() const noexcept {
  const std::size_t begin = starts_[starts_.size() - 2];
  return Trees(nodes_).subspan(begin, starts_.back() - begin);
}

bool Forest::merge_last_two() {
  return join_touching_leaves() || continue_loop() || extend_last() || extend_first() || pair_up();
}

/// The last block of one leaf ends where the first block of the next begins: they become one block,
/// and what else the two leaves have stands before and behind it.
bool Forest::join_touching_leaves() {
  const LayoutNode a = last_but_one_root();
  const LayoutNode b = last_root();
  const std::int64_t touch = checked_add(a.offset, reach(a));
  if (a.children > 0 || b.children > 0 || checked_subtract(b.offset, touch) != static_cast<std::int64_t>(a.bytes))
    return false;
  pop();
  pop();
  if (a.count > 1) push(part_of(a, 0, 1), {});
  push({.offset = touch, .count = 1, .bytes = a.bytes + b.bytes}, {});
  if (b.count > 1) push(part_of(b, 1, 0), {});
  return true;
}

/// Two loops over the same thing, the second beginning where the first would go on.
bool Forest::continue_loop() {
  if (!same_repetition(last_but_one(), last())) return false;
  LayoutNode& a = last_but_one_root();
  const LayoutNode& b = last_root();
  const std::int64_t distance = gap(a, b);
  const bool fits = (a.count == 1 || a.stride == distance) && (b.count == 1 || b.stride == distance);
  if (!fits) return false;
  a.count = size_sum(a.count, b.count);
  a.stride = distance;
  pop();
  return true;
}

/// A loop over trees like the one that follows it.
bool Forest::extend_last() {
  if (!repeats(last_but_one(), last())) return false;
  LayoutNode& loop = last_but_one_root();
  if (gap(loop, last_root()) != loop.stride) return false;
  loop.count += 1;
  pop();
  return true;
}

/// A tree, and a loop over trees like it that goes on from there.
bool Forest::extend_first() {
  if (!repeats(last(), last_but_one())) return false;
  LayoutNode loop = last_root();
  if (checked_subtract(loop.offset, last_but_one_root().offset) != loop.stride) return false;
  loop.offset -= loop.stride;
  loop.count += 1;
  const std::vector<LayoutNode> children(last().begin() + 1, last().end());
  pop();
  pop();
  push(loop, children);
  return true;
}

/// Two equal trees become a loop of two. Trees of count 1 are `continue_loop`'s.
bool Forest::pair_up() {
  const LayoutNode a = last_but_one_root();
  if (a.count == 1 || !same_tree(last_but_one(), last())) return false;
  const std::int64_t distance = checked_subtract(last_root().offset, a.offset);
  pop();
  const std::vector<LayoutNode> tree(last().begin(), last().end());
  pop();
  loop_over_list(2, distance, 0, tree);
  return true;
}

}  // namespace fab
