// The readers of memory that several ranks read. It is used round and round, in quarters: one is written anew when each
// reader has passed the last thing there that is for it. So readers count nothing together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fab::local {

template <std::size_t quarters>
class BasicReaders {
 public:
  void add_link() {
    for (Quarter& quarter : quarters_) quarter.emplace_back();
  }
  /// That link's reader gets something in the quarter, by the cell of that number (RingWriter::add_common).
  void add(std::size_t quarter, std::size_t link, std::uint32_t common) noexcept {
    quarters_[quarter][link] = {true, common};
  }
  /// `has_passed(link, common)` tells whether that reader has passed that cell.
  template <class HasPassed>
  [[nodiscard]] bool have_left(std::size_t quarter, HasPassed&& has_passed) const {
    const Quarter& its = quarters_[quarter];
    for (std::size_t link = 0; link < its.size(); ++link)
      if (its[link].reads && !has_passed(link, its[link].last)) return false;
    return true;
  }
  void forget(std::size_t quarter) noexcept { std::ranges::fill(quarters_[quarter], Reader{}); }

 private:
  struct Reader {
    bool reads = false;
    std::uint32_t last = 0;
  };
  using Quarter = std::vector<Reader>;  ///< by link

  std::array<Quarter, quarters> quarters_;
};

}  // namespace fab::local
