#include "core/communicator/plan_cache.h"

#include <algorithm>

namespace fab::core {

Plan* PlanCache::find(const CallShape& shape, std::uint64_t hash) noexcept {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].hash != hash || !(entries_[i].shape == shape)) continue;
    expect(i);
    return &use(i);
  }
  return nullptr;
}

Plan& PlanCache::store(const CallShape& shape, std::uint64_t hash, std::unique_ptr<Plan> plan) {
  if (entries_.size() == capacity_) displace_one();
  const std::size_t index = entries_.size();
  entries_.push_back({hash, 0, StoredShape(shape), std::move(plan), index});
  expect(index);
  return use(index);
}

void PlanCache::displace_one() {
  const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                       [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
  if (oldest->plan->in_use()) retire(std::move(oldest->plan));
  entries_.erase(oldest);
}

void PlanCache::retire(std::unique_ptr<Plan> plan) {
  plan->retire();
  retired_.push_back(std::move(plan));
}

void PlanCache::drop(const Plan& plan) noexcept {
  std::erase_if(retired_, [&plan](const auto& retired) { return retired.get() == &plan; });
}

}  // namespace fab::core
