// Records with small numbers, used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace fab::core {

/// A record stays where it is, and is made once, of what take() is given and of its number. Allocates only when more
/// are in use than ever before.
template <class Record>
class Slots {
 public:
  template <class... Args>
  [[nodiscard]] Record& take(Args&&... args) {
    if (free_.empty()) {
      free_.reserve(records_.size() + 1);  // so that giving back never throws
      return records_.emplace_back(std::forward<Args>(args)..., static_cast<std::uint32_t>(records_.size()));
    }
    Record& record = records_[free_.back()];
    free_.pop_back();
    return record;
  }
  void give_back(std::uint32_t number) noexcept { free_.push_back(number); }
  [[nodiscard]] bool all_in_use() const noexcept { return free_.empty(); }

  // In use or not.
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] auto begin() noexcept { return records_.begin(); }
  [[nodiscard]] auto end() noexcept { return records_.end(); }
  [[nodiscard]] Record& operator[](std::uint32_t number) noexcept { return records_[number]; }
  [[nodiscard]] const Record& operator[](std::uint32_t number) const noexcept { return records_[number]; }

 private:
  std::deque<Record> records_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fab::core
