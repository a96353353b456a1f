// Trees of ranks, and the messages along them. Ranks are numbered relative to the tree's root.
#pragma once

#include <optional>
#include <vector>

#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"
#include "fab/schedule.h"

namespace fab::collectives {

struct Tree {
  std::optional<int> parent;
  std::vector<int> children;  ///< small subtrees first
};

/// A place in a tree of `ranks` ranks.
using TreeOf = Tree(int relative, int ranks);

/// The root has all others for children.
TreeOf star;
/// i has i + 1 for a child.
TreeOf chain;
/// i has 2i + 1 and 2i + 2 for children.
TreeOf binary_tree;
/// i has i + 2^k for children, for all 2^k below its own lowest bit: the ranks of a subtree are neighbours.
TreeOf binomial_tree;
/// Ranks [i, i + binomial_size) are the subtree of i.
[[nodiscard]] int binomial_size(int relative, int ranks) noexcept;

/// The vector goes from the call's root down. A pipeline.
void bcast_along(TreeOf tree, ScheduleBuilder& builder, const CollectiveCall& call);

/// The vectors go up to the call's root and become one on the way: children come behind their parent, in order, so
/// operations that do not commute need a tree whose subtrees are neighbours; their tree has rank 0 for its root, which
/// passes the result on. A pipeline.
void reduce_along(TreeOf tree, ScheduleBuilder& builder, const CollectiveCall& call);
/// reduce_along from `own`, which is only read unless it is the result, to the `result` that the root has.
void reduce_along(TreeOf tree, ScheduleBuilder& builder, const CollectiveCall& call, const Vector& own,
                  const Vector& result);

}  // namespace fab::collectives
