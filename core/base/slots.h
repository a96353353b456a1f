// Records that are used again and again: the pool of objects that serve one operation after the other.
#pragma once

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
    if (all_in_use()) return add(std::forward<Args>(args)...);
    return *free_[--free_count_];
  }
  void give_back(Record& record) noexcept { free_[free_count_++] = &record; }
  [[nodiscard]] bool all_in_use() const noexcept { return free_count_ == 0; }
  [[nodiscard]] bool none_in_use() const noexcept { return free_count_ == records_.size(); }

  // In use or not.
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] auto begin() noexcept { return records_.begin(); }
  [[nodiscard]] auto end() noexcept { return records_.end(); }
  [[nodiscard]] Record& operator[](std::uint32_t number) noexcept { return records_[number]; }
  [[nodiscard]] const Record& operator[](std::uint32_t number) const noexcept { return records_[number]; }

  /// Ends all of them.
  void clear() noexcept {
    free_count_ = 0;
    records_.clear();
  }

 private:
  template <class... Args>
  [[nodiscard]] Record& add(Args&&... args) {
    if (free_.size() <= records_.size()) free_.resize(records_.size() + 1);  // so that giving back never throws
    if constexpr (std::is_constructible_v<Record, Args..., std::uint32_t>)
      return records_.emplace_back(std::forward<Args>(args)..., static_cast<std::uint32_t>(records_.size()));
    else
      return records_.emplace_back(std::forward<Args>(args)...);
  }

  std::deque<Record> records_;
  std::vector<Record*> free_;  ///< the first free_count_ are; there is room for all
  std::size_t free_count_ = 0;
};

}  // namespace fab::core
