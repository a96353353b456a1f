// The copying of a long message, divided between its two ends: who has time takes the next slice.
//
// The receiver takes slices from the front, the sender from the back, until they meet. Nothing but who copies what is
// settled here; that the bytes are there the sender tells by a cell. A lap keeps messages apart: a sender that comes
// late finds no slice of another message.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

namespace fab::local {

/// Lies in memory that both ends share; all zeros, there is nothing to take.
template <template <class> class Atomic>
class BasicDivision {
 public:
  static constexpr std::uint32_t kMostSlices = (1u << 24) - 1;
  static constexpr std::uint32_t kLaps = 1u << 16;

  /// The receiver's. `lap` is not 0, and not that of a message that the sender may still think of.
  void begin(std::uint32_t lap, std::uint32_t slices) noexcept { word_.store(pack({lap, 0, slices}), kRelaxed); }

  /// The receiver's next slice.
  [[nodiscard]] std::optional<std::uint32_t> take_first(std::uint32_t lap) noexcept {
    return take(lap, [](Left& left) { return left.first++; });
  }
  /// The sender's.
  [[nodiscard]] std::optional<std::uint32_t> take_last(std::uint32_t lap) noexcept {
    return take(lap, [](Left& left) { return --left.end; });
  }

 private:
  /// Slices [first, end) are left.
  struct Left {
    std::uint32_t lap;
    std::uint32_t first;
    std::uint32_t end;
  };
  static constexpr unsigned kBits = 24;
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  static std::uint64_t pack(const Left& left) noexcept {
    return std::uint64_t{left.lap} << (2 * kBits) | std::uint64_t{left.first} << kBits | left.end;
  }
  static Left unpack(std::uint64_t word) noexcept {
    constexpr std::uint32_t kMask = (1u << kBits) - 1;
    return {static_cast<std::uint32_t>(word >> (2 * kBits)), static_cast<std::uint32_t>(word >> kBits) & kMask,
            static_cast<std::uint32_t>(word) & kMask};
  }
  template <class Choose>
  std::optional<std::uint32_t> take(std::uint32_t lap, Choose choose) noexcept {
    std::uint64_t word = word_.load(kRelaxed);
    while (true) {
      Left left = unpack(word);
      if (left.lap != lap || left.first == left.end) return std::nullopt;
      const std::uint32_t slice = choose(left);
      if (word_.compare_exchange_weak(word, pack(left), kRelaxed)) return slice;
    }
  }

  Atomic<std::uint64_t> word_;
};

/// Both ends cut alike. A few slices, so that both have about as much to do, but no short ones: each call takes 1 us
/// besides its copy.
[[nodiscard]] inline std::uint64_t slice_bytes(std::uint64_t message_bytes) noexcept {
  constexpr std::uint64_t kSlices = 8;
  constexpr std::uint64_t kLeast = 64 * 1024;
  constexpr std::uint64_t kMost = 128 * 1024;
  constexpr std::uint64_t kPage = 4096;
  return std::clamp((message_bytes / kSlices + kPage - 1) / kPage * kPage, kLeast, kMost);
}

}  // namespace fab::local
