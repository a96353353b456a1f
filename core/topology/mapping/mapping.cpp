// Mapping: which rank takes which place of a topology. Other files of this folder search for good ones.
#include "fab/mapping.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "fab/error.h"

namespace fab {

Mapping::Mapping(std::vector<Rank> ranks) : ranks_(std::move(ranks)) {
  std::vector<bool> taken(ranks_.size());
  for (std::size_t place = 0; place < ranks_.size(); ++place) {
    const Rank rank = ranks_[place];
    if (rank < 0 || rank >= size())
      throw Error(Errc::invalid_argument,
                  fmt::format("Mapping: ranks[{}] is {}; valid are the ranks from 0 below {}", place, rank, size()));
    if (taken[static_cast<std::size_t>(rank)])
      throw Error(
          Errc::invalid_argument,
          fmt::format("Mapping: ranks[{}] is {}, which another place has; each rank takes one place", place, rank));
    taken[static_cast<std::size_t>(rank)] = true;
  }
}

bool Mapping::is_identity() const noexcept { return std::is_sorted(ranks_.begin(), ranks_.end()); }

}  // namespace fab
