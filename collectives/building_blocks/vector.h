// Vectors in contiguous memory, which algorithms may cut into parts, for blocks of any layout.
#pragma once

#include <cstddef>

#include "fab/schedule.h"

namespace fab::collectives {

struct Vector {
  BufferId buffer = BufferId::scratch;
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;

  bool operator==(const Vector&) const = default;

  [[nodiscard]] Block block() const { return part(0, bytes); }
  [[nodiscard]] Block part(std::size_t first, std::size_t count) const {
    return {buffer, offset + static_cast<std::ptrdiff_t>(first), Layout::contiguous(count)};
  }
};

/// New scratch.
[[nodiscard]] Vector scratch_vector(ScheduleBuilder& builder, std::size_t bytes);

/// What a block holds: the block itself if it is in one piece, otherwise a packed copy, made in a round of its own.
[[nodiscard]] Vector packed(ScheduleBuilder& builder, const Block& block);

/// Where to put what a block shall hold: the block itself, or scratch.
[[nodiscard]] Vector room_for(ScheduleBuilder& builder, const Block& block);
/// Copies from there to the block, in the current round, if it is somewhere else.
void unpack(ScheduleBuilder& builder, const Vector& vector, const Block& block);

/// A vector of `elements` elements in `parts` parts that differ by one element at most.
class Partition {
 public:
  Partition(std::size_t bytes, std::size_t element_bytes, int parts) noexcept
      : elements_(bytes / element_bytes), element_bytes_(element_bytes), parts_(static_cast<std::size_t>(parts)) {}

  /// Where parts [i, i + 1) begin, in bytes.
  [[nodiscard]] std::size_t begin(int i) const noexcept {
    const auto part = static_cast<std::size_t>(i);
    return (part * (elements_ / parts_) + (part < elements_ % parts_ ? part : elements_ % parts_)) * element_bytes_;
  }
  /// Parts [first, first + count) of a vector.
  [[nodiscard]] Block of(const Vector& vector, int first, int count = 1) const {
    return vector.part(begin(first), begin(first + count) - begin(first));
  }

 private:
  std::size_t elements_;
  std::size_t element_bytes_;
  std::size_t parts_;
};

/// Slots repeat after as many messages between two ranks as there are.
[[nodiscard]] constexpr std::uint32_t slot_of_step(int step) noexcept { return static_cast<std::uint32_t>(step) % 256; }

}  // namespace fab::collectives
