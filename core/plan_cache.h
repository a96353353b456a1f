// The plans of one communicator, by the shape of the call; the longest unused goes first.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/call_shape.h"
#include "core/plan.h"

namespace fab::core {

class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

  /// Null when there is none.
  [[nodiscard]] Plan* find(const CallShape& shape, std::uint64_t hash) noexcept;
  void store(const CallShape& shape, std::uint64_t hash, std::shared_ptr<Plan> plan);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint64_t last_use;
    StoredShape shape;
    std::shared_ptr<Plan> plan;
  };

  std::size_t capacity_;
  std::uint64_t uses_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace fab::core
