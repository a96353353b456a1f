// Memory of this rank's own in which a message to several ranks of its node lies once. It is used round and round, in
// quarters: one is written anew when all readers have passed the last cells that name something in it. As in a ring,
// short messages use memory that was never used only where readers are behind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "providers/local/ring.h"

namespace fab::local {

template <std::size_t quarters, std::size_t quarter_bytes>
class BasicSharedArea {
 public:
  static constexpr std::size_t kQuarters = quarters;
  static constexpr std::size_t kQuarterBytes = quarter_bytes;
  static constexpr std::size_t kBytes = kQuarters * kQuarterBytes;

  explicit BasicSharedArea(std::byte* memory) noexcept : memory_(memory) {}

  void add_link() {
    for (Quarter& quarter : quarters_) quarter.emplace_back();
  }
  /// Where others see what a cell names.
  [[nodiscard]] static const std::byte* find(const std::byte* memory, const Stretch& stretch) noexcept {
    return memory + stretch.begin % kBytes;
  }

  /// Room for so many bytes (kQuarterBytes at most), or null. `has_passed(link, cell)` tells whether the reader of that
  /// link's ring has passed that cell. The room stays until release(), and for as long as readers need it.
  template <class HasPassed>
  [[nodiscard]] std::byte* take(std::uint64_t bytes, Stretch& stretch, HasPassed&& has_passed);
  /// A cell of that link's ring names what was taken last.
  void named_by(std::size_t link, std::uint32_t cell) noexcept { quarter_at(last_)[link] = {true, cell}; }
  /// No more cells will name it.
  void release() noexcept { --held_; }

 private:
  struct Naming {
    bool names = false;
    std::uint32_t last_cell = 0;
  };
  using Quarter = std::vector<Naming>;  ///< by link

  static constexpr std::uint64_t kLeastUsed = kQuarterBytes / 4;

  template <class HasPassed>
  [[nodiscard]] static bool is_free(const Quarter& quarter, HasPassed&& has_passed) {
    for (std::size_t link = 0; link < quarter.size(); ++link)
      if (quarter[link].names && !has_passed(link, quarter[link].last_cell)) return false;
    return true;
  }
  /// Where the next message goes, unless that is in use.
  template <class HasPassed>
  [[nodiscard]] std::uint64_t next_begin(std::uint64_t bytes, HasPassed&& has_passed) const;

  [[nodiscard]] Quarter& quarter_at(std::uint64_t position) noexcept {
    return quarters_[position / kQuarterBytes % kQuarters];
  }

  std::byte* memory_;
  std::uint64_t written_ = 0;  ///< from the beginning of time
  std::uint64_t used_ = kLeastUsed;
  std::uint64_t last_ = 0;  ///< where what was taken last begins
  unsigned held_ = 0;       ///< more than one where a handler posts to several ranks inside such a post
  std::array<Quarter, kQuarters> quarters_;
};

using SharedArea = BasicSharedArea<4, 128 * 1024>;

template <std::size_t quarters, std::size_t quarter_bytes>
template <class HasPassed>
std::byte* BasicSharedArea<quarters, quarter_bytes>::take(std::uint64_t bytes, Stretch& stretch,
                                                          HasPassed&& has_passed) {
  const std::uint64_t begin = next_begin(bytes, has_passed);
  if (begin % kQuarterBytes == 0) {
    Quarter& quarter = quarter_at(begin);
    if (held_ > 0 || !is_free(quarter, has_passed)) return nullptr;
    std::ranges::fill(quarter, Naming{});
  }
  ++held_;
  last_ = begin;
  stretch = {begin, bytes};
  written_ = (begin + bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  used_ = std::max(used_, begin % kBytes + bytes);
  return memory_ + begin % kBytes;
}

template <std::size_t quarters, std::size_t quarter_bytes>
template <class HasPassed>
std::uint64_t BasicSharedArea<quarters, quarter_bytes>::next_begin(std::uint64_t bytes, HasPassed&& has_passed) const {
  const std::uint64_t left = kQuarterBytes - written_ % kQuarterBytes;
  const std::uint64_t next = bytes <= left ? written_ : written_ + left;
  const std::uint64_t place = next % kBytes;
  const auto are_free = [&] {
    return std::ranges::all_of(quarters_, [&](const Quarter& quarter) { return is_free(quarter, has_passed); });
  };
  const bool begins_anew = bytes <= kLongestReused && place + bytes > used_ && place > 0 && held_ == 0 && are_free();
  return begins_anew ? next + kBytes - place : next;
}

}  // namespace fab::local
