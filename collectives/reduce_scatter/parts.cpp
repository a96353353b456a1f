#include "collectives/reduce_scatter/parts.h"

#include <algorithm>

namespace fab::collectives {

Parts::Parts(const CollectiveCall& call) : begins_{0} {
  const auto ranks = static_cast<std::size_t>(call.ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::size_t bytes = call.counts.empty()
                                  ? call.bytes / ranks
                                  : static_cast<std::size_t>(call.counts[i]) * call.send[0].element->size();
    begins_.push_back(begins_.back() + bytes);
  }
}

Parts Parts::folded(const Fold& fold) const {
  std::vector<std::size_t> begins;
  for (int number = 0; number <= fold.size(); ++number) begins.push_back(begin(fold.rank(number)));
  return Parts(std::move(begins));
}

std::size_t Parts::longest() const {
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < begins_.size(); ++i) most = std::max(most, begins_[i + 1] - begins_[i]);
  return most;
}

}  // namespace fab::collectives
