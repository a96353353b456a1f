// The neighbours of each rank in a benchmark.
#pragma once

#include <mpi.h>

#include <vector>

#include "support/edges.h"

namespace bench {

enum class Pattern {
  ring,    ///< periodic Cartesian, one dimension: two neighbours; with two ranks two blocks for one peer
  pair,    ///< distributed graph: ranks 2k and 2k + 1 are each other's only neighbour
  grid,    ///< distributed graph: the neighbours in a grid of any number of dimensions
  random,  ///< distributed graph: as many edges for each rank, chosen at random
  faces,   ///< Cartesian, two or three dimensions: neighbours that may be one rank or this one
};
[[nodiscard]] const char* name_of(Pattern pattern);

struct PatternOptions {
  Pattern pattern = Pattern::ring;
  std::vector<int> grid{};  ///< extents of grid and faces; empty: chosen
  int dimensions = 3;       ///< of faces, where the grid is chosen
  bool open = false;        ///< grid and faces: not periodic
  int degree = 4;           ///< of random
  unsigned seed = 1;        ///< of random
};

/// Whose order of blocks: on a Cartesian communicator MPI lists each dimension's negative direction first, fab the
/// positive one.
enum class Order { fab, mpi };

class Neighbors {
 public:
  /// Of all ranks; collective. Throws std::runtime_error when the pattern needs another number of ranks, or other
  /// options.
  explicit Neighbors(const PatternOptions& options);
  ~Neighbors();
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  [[nodiscard]] Pattern pattern() const { return options_.pattern; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] bool is_cartesian() const { return pattern() == Pattern::ring || pattern() == Pattern::faces; }
  /// Of the Cartesian grid; empty without one.
  [[nodiscard]] const std::vector<int>& dims() const { return dims_; }
  [[nodiscard]] bool periodic() const { return !options_.open; }
  /// Of a graph.
  [[nodiscard]] const Edges& edges() const { return edges_; }
  [[nodiscard]] int count() const {
    return static_cast<int>(is_cartesian() ? 2 * dims_.size() : edges_.destinations.size());
  }
  /// The rank to which block `block` goes: MPI_PROC_NULL at an open border of a Cartesian grid.
  [[nodiscard]] int destination(int block, Order order) const;
  /// The rank from which received block `block` comes.
  [[nodiscard]] int source(int block, Order order) const;
  /// The block of that rank which arrives in `block` here: on a grid what leaves in one direction arrives in the block
  /// of the other direction.
  [[nodiscard]] int opposite(int block) const {
    return is_cartesian() ? block ^ 1 : arriving_[static_cast<std::size_t>(block)];
  }
  /// All blocks go to one other rank, on all ranks alike: pairs, and a ring of two.
  [[nodiscard]] bool has_single_peer() const;

 private:
  void make_graph(int ranks);

  PatternOptions options_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<int> dims_;
  Edges edges_;
  std::vector<int> arriving_;  // by received block: the sender's block
};

}  // namespace bench
