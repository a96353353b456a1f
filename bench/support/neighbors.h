// The neighbours of each rank in a benchmark.
#pragma once

#include <mpi.h>

#include <vector>

namespace bench {

enum class Pattern {
  ring,   ///< periodic Cartesian, one dimension: two neighbours; with two ranks two blocks for one peer
  pair,   ///< distributed graph: ranks 2k and 2k + 1 are each other's only neighbour
  faces,  ///< periodic Cartesian, three dimensions: six neighbours, which may be one rank or this one
};
[[nodiscard]] const char* name_of(Pattern pattern);

/// Whose order of blocks: on a Cartesian communicator MPI lists each dimension's negative direction first, fab the
/// positive one.
enum class Order { fab, mpi };

class Neighbors {
 public:
  /// Of all ranks; collective. Throws std::runtime_error when the pattern needs another number of ranks.
  explicit Neighbors(Pattern pattern);
  ~Neighbors();
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  [[nodiscard]] Pattern pattern() const { return pattern_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  /// Of the Cartesian grid; empty without one.
  [[nodiscard]] const std::vector<int>& dims() const { return dims_; }
  [[nodiscard]] int count() const { return pattern_ == Pattern::pair ? 1 : 2 * static_cast<int>(dims_.size()); }
  /// The neighbour with whom this rank exchanges block `block`.
  [[nodiscard]] int neighbor(int block, Order order) const;
  /// The block of that neighbour which arrives in `block` here: what leaves in one direction arrives in the block of
  /// the other direction.
  [[nodiscard]] int opposite(int block) const { return pattern_ == Pattern::pair ? block : block ^ 1; }
  /// All blocks go to one other rank.
  [[nodiscard]] bool has_single_peer() const;

 private:
  Pattern pattern_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<int> dims_;
};

}  // namespace bench
