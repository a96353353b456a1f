// The edges of each rank in patterns that are graphs: pure functions of its number.
#pragma once

#include <vector>

namespace bench {

/// The ranks to which the blocks of a rank go, in their order, and those from which its received blocks come.
struct Edges {
  std::vector<int> destinations;
  std::vector<int> sources;
};

/// Ranks 2k and 2k + 1 are each other's only neighbour.
[[nodiscard]] Edges pair_edges(int rank);

/// Of a grid in row-major order: for each dimension the neighbour at +1, then that at -1. At the border of an open
/// grid, and along a dimension of one rank, there is none.
[[nodiscard]] Edges grid_edges(int rank, const std::vector<int>& dims, bool open);

/// Each rank has `degree` destinations and as many sources: successors and predecessors in random rings of all ranks.
/// The same rank may be a neighbour more than once.
[[nodiscard]] Edges random_edges(int rank, int ranks, int degree, unsigned seed);

/// The position, among the destinations of a sender, of the edge by which block `block` of `receiver` comes: edges
/// between the same two ranks are paired in the order in which both list them.
[[nodiscard]] int sent_block(const Edges& of_sender, const Edges& of_receiver, int receiver, int block);

}  // namespace bench
