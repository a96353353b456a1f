// Memory of this rank's own in which a message to several ranks of its node lies once (readers.h). As in a ring, short
// messages use memory that was never used only where readers are behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "providers/local/readers.h"
#include "providers/local/ring.h"

namespace fab::local {

template <std::size_t quarters, std::size_t quarter_bytes>
class BasicSharedArea {
 public:
  static constexpr std::size_t kQuarters = quarters;
  static constexpr std::size_t kQuarterBytes = quarter_bytes;
  static constexpr std::size_t kBytes = kQuarters * kQuarterBytes;

  explicit BasicSharedArea(std::byte* memory) noexcept : memory_(memory) {}

  void add_link() { readers_.add_link(); }
  /// Where others see what a cell names.
  [[nodiscard]] static const std::byte* find(const std::byte* memory, const Stretch& stretch) noexcept {
    return memory + stretch.begin % kBytes;
  }

  /// Room for so many bytes (kQuarterBytes at most), or null. It stays for as long as readers need it, who must all be
  /// named before the next call.
  template <class HasPassed>
  [[nodiscard]] std::byte* take(std::uint64_t bytes, Stretch& stretch, HasPassed&& has_passed);
  /// A cell for that link's reader, of that number, names what was taken last.
  void named_by(std::size_t link, std::uint32_t common) noexcept { readers_.add(quarter_at(last_), link, common); }

 private:
  static constexpr std::uint64_t kLeastUsed = kQuarterBytes / 4;

  /// Where the next message goes, unless that is in use.
  template <class HasPassed>
  [[nodiscard]] std::uint64_t next_begin(std::uint64_t bytes, HasPassed&& has_passed) const;

  [[nodiscard]] static std::size_t quarter_at(std::uint64_t position) noexcept {
    return position / kQuarterBytes % kQuarters;
  }

  std::byte* memory_;
  std::uint64_t written_ = 0;  ///< from the beginning of time
  std::uint64_t used_ = kLeastUsed;
  std::uint64_t last_ = 0;  ///< where what was taken last begins
  BasicReaders<kQuarters> readers_;
};

using SharedArea = BasicSharedArea<4, 128 * 1024>;

template <std::size_t quarters, std::size_t quarter_bytes>
template <class HasPassed>
std::byte* BasicSharedArea<quarters, quarter_bytes>::take(std::uint64_t bytes, Stretch& stretch,
                                                          HasPassed&& has_passed) {
  const std::uint64_t begin = next_begin(bytes, has_passed);
  if (begin % kQuarterBytes == 0) {
    if (!readers_.have_left(quarter_at(begin), has_passed)) return nullptr;
    readers_.forget(quarter_at(begin));
  }
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
  const auto all_have_left = [&] {
    for (std::size_t quarter = 0; quarter < kQuarters; ++quarter)
      if (!readers_.have_left(quarter, has_passed)) return false;
    return true;
  };
  const bool begins_anew = bytes <= kLongestReused && place + bytes > used_ && place > 0 && all_have_left();
  return begins_anew ? next + kBytes - place : next;
}

}  // namespace fab::local
