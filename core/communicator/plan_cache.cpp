#include "core/communicator/plan_cache.h"

#include <algorithm>
#include <new>
#include <utility>

namespace fab::core {

RunPool* PlanCache::find_any(const CallBrief& brief, const CallNumbers* numbers) noexcept {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.is_of(brief, numbers); });
  if (found == entries_.end()) return nullptr;
  const auto index = static_cast<std::size_t>(found - entries_.begin());
  expect(index);
  return &use(index);
}

bool PlanCache::Entry::keep(const CallNumbers& its_numbers) noexcept try {
  numbers.clear();
  for (const std::span<const int> array : its_numbers.arrays) numbers.insert(numbers.end(), array.begin(), array.end());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

RunPool* PlanCache::find_any(const CallShape& shape) noexcept {
  const std::uint64_t hash = shape.hash();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].hash != hash || !(entries_[i].shape == shape)) continue;
    expect(i);
    return &use(i);
  }
  return nullptr;
}

RunPool& PlanCache::store(const CallShape& shape, std::unique_ptr<RunPool> pool) {
  if (entries_.size() == capacity_) displace_one();
  const std::size_t index = entries_.size();
  entries_.push_back({.brief = {},
                      .pool = std::move(pool),
                      .last_use = 0,
                      .next = index,
                      .hash = shape.hash(),
                      .shape = StoredShape(shape),
                      .named = {},
                      .numbers = {}});
  expect(index);
  return use(index);
}

void PlanCache::displace_one() {
  const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                       [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
  if (oldest->pool->in_use()) retire(std::move(oldest->pool));
  entries_.erase(oldest);
}

void PlanCache::retire(std::unique_ptr<RunPool> pool) {
  pool->retire(*this);
  retired_.push_back(std::move(pool));
}

void PlanCache::drop(const RunPool& pool) noexcept {
  const auto found =
      std::ranges::find(retired_, &pool, [](const std::unique_ptr<RunPool>& retired) { return retired.get(); });
  if (found == retired_.end()) return;
  // It ends when the list is whole again: with a one-sided exchange ends its control run, which may drop another pool.
  const std::unique_ptr<RunPool> ending = std::move(*found);
  retired_.erase(found);
}

}  // namespace fab::core
