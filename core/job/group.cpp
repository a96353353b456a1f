#include "core/job/group.h"

#include <algorithm>

namespace fab::core {

Group Group::range(Rank first, int size) {
  Group group;
  group.size_ = size;
  group.stretches_.push_back({0, first, 1});
  return group;
}

Group Group::of(std::span<const Rank> world_ranks) {
  Group group;
  group.size_ = static_cast<int>(world_ranks.size());
  for (std::size_t i = 0; i < world_ranks.size();) {
    const int stride = i + 1 < world_ranks.size() ? world_ranks[i + 1] - world_ranks[i] : 1;
    group.stretches_.push_back({static_cast<Rank>(i), world_ranks[i], stride});
    std::size_t next = i + 1;
    while (next < world_ranks.size() && world_ranks[next] - world_ranks[next - 1] == stride) ++next;
    i = next;
  }
  return group;
}

Group Group::computed(int size, std::function<Rank(Rank)> world_rank) {
  Group group;
  group.size_ = size;
  group.computed_ = std::move(world_rank);
  return group;
}

Rank Group::world_rank(Rank rank) const {
  if (computed_) return computed_(rank);
  const auto begins_after = [](Rank value, const Stretch& stretch) { return value < stretch.first_rank; };
  const Stretch& stretch = stretches_.size() == 1  // as most have
                               ? stretches_.front()
                               : *(std::upper_bound(stretches_.begin(), stretches_.end(), rank, begins_after) - 1);
  return stretch.first_world_rank + (rank - stretch.first_rank) * stretch.stride;
}

}  // namespace fab::core
