// Records with small numbers, used again and again.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace fab::local {

/// A record stays where it is. Allocates only when more are in use than ever before.
template <class Record>
class Slots {
 public:
  [[nodiscard]] Record& take() {
    if (free_.empty()) {
      records_.emplace_back();
      records_.back().number = static_cast<std::uint32_t>(records_.size() - 1);
      free_.reserve(records_.size());
      return records_.back();
    }
    Record& record = records_[free_.back()];
    free_.pop_back();
    return record;
  }
  void give_back(const Record& record) noexcept { free_.push_back(record.number); }
  [[nodiscard]] auto begin() noexcept { return records_.begin(); }
  [[nodiscard]] auto end() noexcept { return records_.end(); }
  [[nodiscard]] Record& operator[](std::uint32_t number) noexcept { return records_[number]; }
  [[nodiscard]] const Record& operator[](std::uint32_t number) const noexcept { return records_[number]; }

 private:
  std::deque<Record> records_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fab::local
