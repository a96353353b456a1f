// Up to which length one of two ways is the faster one.
#pragma once

#include <cstdint>
#include <span>

namespace fab::tools {

/// Of an exchange with messages of one length within a node: seconds by either way.
struct WayTimes {
  std::uint64_t bytes = 0;
  double copied = 0;     ///< through the ring
  double announced = 0;  ///< read, or mapped, by the receiver
};

/// The longest of them that is best copied: from there on the other way is faster, by more than `within` at the next
/// two lengths, or at the last one. 0: none is best copied. `times` ascend by length.
[[nodiscard]] inline std::uint64_t longest_worth_copying(std::span<const WayTimes> times, double within) noexcept {
  const auto loses = [within](const WayTimes& each) { return each.copied > each.announced * within; };
  std::uint64_t longest = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool is_last = i + 1 == times.size();
    if (loses(times[i]) && (is_last || loses(times[i + 1]))) break;
    longest = times[i].bytes;
  }
  return longest;
}

}  // namespace fab::tools
