// The group of a communicator: its ranks, and the processes of the job that they are.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fab/topology.h"

namespace fab::core {

/// Maps ranks of a communicator to ranks of the job. Regular groups take a constant amount of memory.
class Group {
 public:
  /// Ranks first, first + 1, ... of the job.
  static Group range(Rank first, int size);
  /// The ranks listed, stored as runs of equal stride.
  static Group of(std::span<const Rank> world_ranks);
  /// A map that another object keeps (an MPI group).
  static Group computed(int size, std::function<Rank(Rank)> world_rank);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] Rank world_rank(Rank rank) const;

 private:
  struct Stretch {
    Rank first_rank;  ///< of the communicator
    Rank first_world_rank;
    int stride;
  };

  int size_ = 0;
  std::vector<Stretch> stretches_;  ///< by first_rank
  std::function<Rank(Rank)> computed_;
};

}  // namespace fab::core
