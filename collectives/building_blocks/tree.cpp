#include "collectives/building_blocks/tree.h"

#include <algorithm>

namespace fab::collectives {

Tree star(int relative, int ranks) {
  Tree tree;
  if (relative > 0) tree.parent = 0;
  for (int child = 1; relative == 0 && child < ranks; ++child) tree.children.push_back(child);
  return tree;
}

Tree chain(int relative, int ranks) {
  Tree tree;
  if (relative > 0) tree.parent = relative - 1;
  if (relative + 1 < ranks) tree.children.push_back(relative + 1);
  return tree;
}

Tree binary_tree(int relative, int ranks) {
  Tree tree;
  if (relative > 0) tree.parent = (relative - 1) / 2;
  for (const std::int64_t child : {2 * std::int64_t{relative} + 2, 2 * std::int64_t{relative} + 1})
    if (child < ranks) tree.children.push_back(static_cast<int>(child));
  return tree;
}

int binomial_size(int relative, int ranks) noexcept {
  return relative == 0 ? ranks : std::min(relative & -relative, ranks - relative);
}

Tree binomial_tree(int relative, int ranks) {
  Tree tree;
  if (relative > 0) tree.parent = relative & (relative - 1);
  const int size = binomial_size(relative, ranks);
  for (int distance = 1; distance < size; distance *= 2) tree.children.push_back(relative + distance);
  return tree;
}

void bcast_along(TreeOf tree, ScheduleBuilder& builder, const CollectiveCall& call) {
  const Tree place = tree(call.relative(), call.ranks);
  const auto absolute = [&](int relative) { return (relative + call.root) % call.ranks; };
  const Vector data = place.parent ? room_for(builder, call.output()) : packed(builder, call.output());
  builder.begin_pipeline(data.bytes, 1);
  if (place.parent) {
    builder.recv(absolute(*place.parent), 0, data.block());
    builder.round();
  }
  // The largest subtree first: it takes longest.
  std::for_each(place.children.rbegin(), place.children.rend(),
                [&](int child) { builder.send(absolute(child), 0, data.block()); });
  builder.end_pipeline();
  if (place.parent) unpack(builder, data, call.output());
}

namespace {

/// Combines the children's vectors with this rank's own; returns where the result is. The last of them came to `last`.
Vector combine(ScheduleBuilder& builder, const CollectiveCall& call, const Vector& own,
               const std::vector<Vector>& received, bool into_own) {
  const auto reduce = [&](const Vector& from, const Vector& into) {
    builder.reduce(call.operation.reduction, call.operation.element_bytes, from.block(), into.block());
  };
  Vector value = own;
  for (const Vector& next : received) {
    if (into_own) {
      reduce(next, own);
    } else {
      reduce(value, next);
      value = next;
    }
  }
  return value;
}

}  // namespace

void reduce_along(TreeOf tree, ScheduleBuilder& builder, const CollectiveCall& call) {
  const bool is_root = call.rank == call.root;
  const Vector own = packed(builder, call.input());
  const Vector result = is_root ? room_for(builder, call.output()) : Vector{};
  reduce_along(tree, builder, call, own, result);
  if (is_root) unpack(builder, result, call.output());
}

void reduce_along(TreeOf tree, ScheduleBuilder& builder, const CollectiveCall& call, const Vector& own,
                  const Vector& result) {
  const Rank top = call.operation.commutative ? call.root : 0;
  const auto absolute = [&](int relative) { return (relative + top) % call.ranks; };
  const Tree place = tree((call.rank - top + call.ranks) % call.ranks, call.ranks);
  const bool is_root = call.rank == call.root;
  const bool in_result = is_root && own == result;
  std::vector<Vector> received;
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    const bool ends_here = is_root && !place.parent && !in_result && i + 1 == place.children.size();
    received.push_back(ends_here ? result : scratch_vector(builder, call.bytes));
  }

  builder.begin_pipeline(call.bytes, call.operation.element_bytes);
  for (std::size_t i = 0; i < received.size(); ++i) builder.recv(absolute(place.children[i]), 0, received[i].block());
  builder.round();
  const Vector value = combine(builder, call, own, received, in_result && call.operation.commutative);
  builder.round();
  if (place.parent) builder.send(absolute(*place.parent), 0, value.block());
  if (!place.parent && is_root && value != result) builder.copy(value.block(), result.block());
  builder.end_pipeline();
  // Behind the pipeline, in which segments would wait for each other in a circle.
  if (!place.parent && !is_root) builder.send(call.root, 0, value.block());
  if (place.parent && is_root) builder.recv(top, 0, result.block());
  builder.round();
}

}  // namespace fab::collectives
