// Records that are used again and again: the pool of objects that serve one operation after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

namespace fab::core {

/// A record stays where it is, and is made once, of what take() is given and, if its constructor takes one more
/// argument, of its number. Allocates only when more are in use than ever before. The one that was given back last is
/// taken first.
template <class Record>
class Slots {
 public:
  /// Throws what making a record throws; then the slots are as before.
  template <class... Args>
  [[nodiscard]] Record& take(Args&&... args) {
    if (free_.empty()) return add(std::forward<Args>(args)...);
    Record& record = *free_.back();
    free_.pop_back();
    return record;
  }
  void give_back(Record& record) noexcept { free_.push_back(&record); }
  [[nodiscard]] bool all_in_use() const noexcept { return free_.empty(); }
  [[nodiscard]] bool none_in_use() const noexcept { return free_.size() == records_.size(); }

  // In use or not.
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] auto begin() noexcept { return records_.begin(); }
  [[nodiscard]] auto end() noexcept { return records_.end(); }
  [[nodiscard]] Record& operator[](std::uint32_t number) noexcept { return records_[number]; }
  [[nodiscard]] const Record& operator[](std::uint32_t number) const noexcept { return records_[number]; }

  /// Ends all of them.
  void clear() noexcept {
    free_.clear();
    records_.clear();
  }

 private:
  template <class... Args>
  [[nodiscard]] Record& add(Args&&... args) {
    // So that giving back never throws.
    if (free_.capacity() <= records_.size()) free_.reserve(std::max<std::size_t>(1, 2 * records_.size()));
    if constexpr (std::is_constructible_v<Record, Args..., std::uint32_t>)
      return records_.emplace_back(std::forward<Args>(args)..., static_cast<std::uint32_t>(records_.size()));
    else
      return records_.emplace_back(std::forward<Args>(args)...);
  }

  std::deque<Record> records_;
  std::vector<Record*> free_;
};

}  // namespace fab::core
