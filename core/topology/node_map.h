// The node map of a communicator: the ranks that share each node.
#pragma once

#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab::core {

/// A value. Nodes are numbered by their lowest ranks, so node 0 is rank 0's. Takes constant memory where all nodes have
/// as many consecutive ranks, the last one perhaps fewer; 4 bytes for each node where ranks are consecutive; otherwise
/// 4 bytes more for each rank, and as many for each node.
class NodeMap {
 public:
  /// The node of each rank, by any numbers. At least one rank.
  [[nodiscard]] static NodeMap of(std::span<const int> node_of_rank);
  /// Ranks 0 to per_node - 1 share node 0, and so on. At least one rank, and one for each node.
  [[nodiscard]] static NodeMap regular(int ranks, int per_node);

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] int nodes() const noexcept { return nodes_; }
  /// Ranks of the smallest and of the largest node.
  [[nodiscard]] int smallest() const noexcept { return smallest_; }
  [[nodiscard]] int largest() const noexcept { return largest_; }
  /// The ranks of each node follow each other.
  [[nodiscard]] bool consecutive() const noexcept { return node_of_.empty(); }

  [[nodiscard]] int node_of(Rank rank) const;
  /// How many ranks of its node are lower. Looks at lower ranks, unless consecutive().
  [[nodiscard]] int index_of(Rank rank) const;
  /// Ranks of a node.
  [[nodiscard]] int size_of(int node) const;
  [[nodiscard]] Rank lowest(int node) const;
  /// The rank that has this index in its node. Looks at lower ranks, unless consecutive().
  [[nodiscard]] Rank rank_of(int node, int index) const;
  /// All of a node, ascending.
  [[nodiscard]] std::vector<Rank> ranks_of(int node) const;

  bool operator==(const NodeMap&) const = default;

 private:
  NodeMap() = default;
  [[nodiscard]] bool is_regular() const noexcept { return lowest_.empty(); }

  int ranks_ = 0;
  int nodes_ = 0;
  int smallest_ = 0;
  int largest_ = 0;           ///< regular: of every node but the last
  std::vector<int> node_of_;  ///< of each rank; empty: ranks of nodes are consecutive
  std::vector<int> sizes_;    ///< of each node, where node_of_ is needed
  std::vector<Rank> lowest_;  ///< of each node; empty: regular
};

}  // namespace fab::core
