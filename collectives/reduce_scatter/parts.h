// The parts of a vector that belong to the ranks of a reduce_scatter.
#pragma once

#include <utility>
#include <vector>

#include "collectives/building_blocks/fold.h"
#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

/// As Partition, with parts of any size. Part i is rank i's.
class Parts {
 public:
  explicit Parts(const CollectiveCall& call);

  /// Those of the ranks that stay in a fold, by their numbers, each together with that of the rank it works for.
  [[nodiscard]] Parts folded(const Fold& fold) const;

  [[nodiscard]] std::size_t begin(int i) const { return begins_[static_cast<std::size_t>(i)]; }
  /// Of parts [first, first + count).
  [[nodiscard]] std::size_t bytes(int first, int count = 1) const { return begin(first + count) - begin(first); }
  [[nodiscard]] Block of(const Vector& vector, int first, int count = 1) const {
    return vector.part(begin(first), bytes(first, count));
  }
  [[nodiscard]] std::size_t longest() const;

 private:
  explicit Parts(std::vector<std::size_t> begins) : begins_(std::move(begins)) {}

  std::vector<std::size_t> begins_;  ///< and the end of the last
};

}  // namespace fab::collectives
