#include "core/plan_cache.h"

#include <algorithm>

namespace fab::core {

Plan* PlanCache::find(const CallShape& shape, std::uint64_t hash) noexcept {
  for (Entry& entry : entries_) {
    if (entry.hash != hash || !(entry.shape == shape)) continue;
    entry.last_use = ++uses_;
    return entry.plan.get();
  }
  return nullptr;
}

void PlanCache::store(const CallShape& shape, std::uint64_t hash, std::shared_ptr<Plan> plan) {
  if (capacity_ == 0) return;
  if (entries_.size() == capacity_)
    entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                    [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; }));
  entries_.push_back({hash, ++uses_, StoredShape(shape), std::move(plan)});
}

}  // namespace fab::core
