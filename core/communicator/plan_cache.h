// The plans of one communicator, by the shape of the call; the longest unused goes first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/plan/call_brief.h"
#include "core/plan/call_shape.h"
#include "core/run/run_pool.h"

namespace fab::core {

class PlanCache final : RunPool::Keeper {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

  /// The plan of calls of this shape; null when there is none.
  [[nodiscard]] RunPool* find(const CallShape& shape) noexcept FAB_REQUIRES(engine_lock) {
    RunPool* const expected = find_expected(shape);
    return expected != nullptr ? expected : find_any(shape);
  }
  /// The plan that calls of this brief had the last time; null if it serves others since, or there is none.
  [[nodiscard]] RunPool* find(const CallBrief& brief, const CallNumbers* numbers = nullptr) noexcept
      FAB_REQUIRES(engine_lock) {
    const std::size_t expected = next();
    return expected < entries_.size() && entries_[expected].is_of(brief, numbers) ? &use(expected)
                                                                                  : find_any(brief, numbers);
  }
  /// The plan that was found or stored last is that of calls of this brief, which names these layouts, at most two;
  /// null ones are none. Without memory for the numbers nothing is remembered.
  void remember(const CallBrief& brief, std::span<const Layout* const> layouts,
                const CallNumbers* numbers = nullptr) noexcept FAB_REQUIRES(engine_lock) {
    if (latest_ >= entries_.size()) return;
    Entry& entry = entries_[latest_];
    entry.brief = numbers == nullptr || entry.keep(*numbers) ? brief : CallBrief();
    for (std::size_t i = 0; i < layouts.size(); ++i) entry.named[i] = layouts[i] == nullptr ? Layout() : *layouts[i];
  }
  [[nodiscard]] bool keeps_plans() const noexcept { return capacity_ > 0; }
  /// Precondition: keeps_plans().
  RunPool& store(const CallShape& shape, std::unique_ptr<RunPool> pool) FAB_REQUIRES(engine_lock);
  /// Keeps one that is in use, and cannot be found any more, until none of its runs is.
  void retire(std::unique_ptr<RunPool> pool) FAB_REQUIRES(engine_lock);
  void drop(const RunPool& pool) noexcept override FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::size_t size() const noexcept FAB_REQUIRES(engine_lock) { return entries_.size(); }
  [[nodiscard]] std::size_t retired() const noexcept FAB_REQUIRES(engine_lock) { return retired_.size(); }

 private:
  /// What a call that repeats looks at lies in one cache line.
  struct alignas(64) Entry {
    CallBrief brief;
    std::unique_ptr<RunPool> pool;
    std::uint64_t last_use;
    std::size_t next;  ///< entry that was used after this one the last time; a guess, once entries have gone
    std::uint64_t hash;
    StoredShape shape;
    std::array<Layout, 2> named;  ///< by the brief: as long as they live, no others lie where they do
    std::vector<int> numbers;     ///< of the brief's calls

    [[nodiscard]] bool is_of(const CallBrief& call, const CallNumbers* its_numbers) const noexcept {
      return brief == call && (its_numbers == nullptr || its_numbers->are(numbers));
    }
    /// False: there is no memory for them.
    bool keep(const CallNumbers& its_numbers) noexcept;
  };

  /// The one that came after the latest one the last time: programs mostly repeat themselves.
  [[nodiscard]] std::size_t next() const noexcept FAB_REQUIRES(engine_lock) {
    return latest_ < entries_.size() ? entries_[latest_].next : entries_.size();
  }
  [[nodiscard]] RunPool* find_expected(const CallShape& shape) noexcept FAB_REQUIRES(engine_lock) {
    const std::size_t expected = next();
    if (expected >= entries_.size() || !(entries_[expected].shape == shape)) return nullptr;
    return &use(expected);
  }
  [[nodiscard]] RunPool* find_any(const CallBrief& brief, const CallNumbers* numbers) noexcept
      FAB_REQUIRES(engine_lock);
  [[nodiscard]] RunPool* find_any(const CallShape& shape) noexcept FAB_REQUIRES(engine_lock);
  RunPool& use(std::size_t index) noexcept FAB_REQUIRES(engine_lock) {
    entries_[index].last_use = ++uses_;
    latest_ = index;
    return *entries_[index].pool;
  }
  /// Now this one comes after the latest one.
  void expect(std::size_t index) noexcept FAB_REQUIRES(engine_lock) {
    if (latest_ < entries_.size()) entries_[latest_].next = index;
  }
  void displace_one() FAB_REQUIRES(engine_lock);

  std::size_t capacity_;
  std::uint64_t uses_ FAB_GUARDED_BY(engine_lock) = 0;
  std::size_t latest_ FAB_GUARDED_BY(engine_lock) = 0;
  std::vector<Entry> entries_ FAB_GUARDED_BY(engine_lock);
  std::vector<std::unique_ptr<RunPool>> retired_ FAB_GUARDED_BY(engine_lock);  ///< in use still
};

}  // namespace fab::core
