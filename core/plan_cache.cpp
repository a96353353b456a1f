#include "core/plan_cache.h"

#include <algorithm>

namespace fab::core {

Plan* PlanCache::find(const CallShape& shape, std::uint64_t hash) noexcept {
  for (Entry& entry : entries_) {
    if (entry.hash != hash || !(entry.shape == shape)) continue;
    entry.last_use = ++uses_;
    latest_ = static_cast<std::size_t>(&entry - entries_.data());
    return entry.plan.get();
  }
  return nullptr;
}

Plan& PlanCache::store(const CallShape& shape, std::uint64_t hash, std::unique_ptr<Plan> plan) {
  if (entries_.size() == capacity_) displace_one();
  latest_ = entries_.size();
  entries_.push_back({hash, ++uses_, StoredShape(shape), std::move(plan)});
  return *entries_.back().plan;
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
