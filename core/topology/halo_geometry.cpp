// HaloGeometry: where the interior, the halo and the boundary of a block lie in memory, for each direction.
#include "fab/halo_geometry.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "fab/error.h"

namespace fab {

namespace {

constexpr auto kMostBytes = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());

template <class... Arguments>
[[noreturn]] void refuse_halo(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw Error(Errc::invalid_argument, "halo: " + fmt::format(text, std::forward<Arguments>(arguments)...));
}

void check_dimensions(const char* what, std::size_t dimensions) {
  if (dimensions < 1 || dimensions > Direction::kMaxDimensions)
    refuse_halo("{} has {} dimensions; valid are 1 to {}", what, dimensions, Direction::kMaxDimensions);
}

std::size_t product(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > kMostBytes)
    refuse_halo("the block and its halo have more than 2^63-1 bytes");
  return result;
}

}  // namespace

Direction::Direction(std::span<const int> offsets) : dimensions_(static_cast<std::uint8_t>(offsets.size())) {
  check_dimensions("a direction", offsets.size());
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    if (offsets[d] < -1 || offsets[d] > 1)
      refuse_halo("offset {} of a direction is {}; valid are -1, 0 and 1", d, offsets[d]);
    offsets_[d] = static_cast<std::int8_t>(offsets[d]);
  }
}

Direction Direction::opposite() const noexcept {
  Direction result = *this;
  for (std::int8_t& offset : result.offsets_) offset = static_cast<std::int8_t>(-offset);
  return result;
}

std::string to_string(const Direction& direction) {
  std::string text;
  for (std::size_t d = 0; d < direction.dimensions(); ++d)
    text += fmt::format("{}{}", d == 0 ? "{" : ",", direction[d]);
  return text + "}";
}

HaloGeometry::HaloGeometry(HaloShape shape) : shape_(std::move(shape)) {
  check();
  measure();
  list_directions();
}

void HaloGeometry::check() const {
  const auto& [interior, width, element_bytes, corners] = shape_;
  check_dimensions("the interior", interior.size());
  if (width.size() != interior.size())
    refuse_halo("width has {} entries and interior has {}; their lengths must be equal", width.size(), interior.size());
  if (element_bytes < 1) refuse_halo("element_bytes is 0; valid is 1 or more");
  for (std::size_t d = 0; d < interior.size(); ++d) {
    if (interior[d] < 1) refuse_halo("interior[{}] is 0; valid is 1 or more", d);
    if (width[d] > interior[d])
      refuse_halo("width[{}] is {}; valid is 0 to interior[{}], which is {}", d, width[d], d, interior[d]);
  }
}

// A width is at most the interior's, so nothing wraps around where the latter's triple fits.
void HaloGeometry::measure() {
  const auto& [interior, width, element_bytes, corners] = shape_;
  const std::size_t dimensions = interior.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    static_cast<void>(product(interior[d], 3));
    extents_.push_back(interior[d] + 2 * width[d]);
  }
  strides_.assign(dimensions, 1);
  for (std::size_t d = dimensions - 1; d > 0; --d) strides_[d - 1] = product(strides_[d], extents_[d]);
  static_cast<void>(product(product(strides_.front(), extents_.front()), element_bytes));
  for (std::size_t d = 0; d < dimensions; ++d) interior_offset_ += width[d] * strides_[d];
}

// Counts through all offsets, the last dimension fastest.
void HaloGeometry::list_directions() {
  std::vector<int> offsets(dimensions(), -1);
  const auto has_halo = [&] {
    std::size_t sides = 0;
    for (std::size_t d = 0; d < dimensions(); ++d) {
      if (offsets[d] != 0 && shape_.width[d] == 0) return false;
      if (offsets[d] != 0) ++sides;
    }
    return sides == 1 || (sides > 1 && shape_.corners);
  };
  for (;;) {
    if (has_halo()) directions_.emplace_back(std::span<const int>(offsets));
    std::size_t d = dimensions();
    while (d > 0 && offsets[d - 1] == 1) offsets[--d] = -1;
    if (d == 0) return;
    ++offsets[d - 1];
  }
}

std::size_t HaloGeometry::index_of(const Direction& direction) const {
  const auto found = std::find(directions_.begin(), directions_.end(), direction);
  if (found == directions_.end())
    refuse_halo("there is no halo on side {} of a block of {} dimensions{}", to_string(direction), dimensions(),
                shape_.corners ? "" : " whose halos come from the neighbours over faces only");
  return static_cast<std::size_t>(found - directions_.begin());
}

Box HaloGeometry::interior() const { return {shape_.width, shape_.interior}; }

Box HaloGeometry::halo(const Direction& side) const {
  static_cast<void>(index_of(side));
  Box box = interior();
  for (std::size_t d = 0; d < dimensions(); ++d) {
    if (side[d] == 0) continue;
    box.start[d] = side[d] < 0 ? 0 : shape_.width[d] + shape_.interior[d];
    box.size[d] = shape_.width[d];
  }
  return box;
}

Box HaloGeometry::boundary(const Direction& side) const {
  static_cast<void>(index_of(side));
  Box box = interior();
  for (std::size_t d = 0; d < dimensions(); ++d) {
    if (side[d] == 0) continue;
    if (side[d] > 0) box.start[d] = shape_.interior[d];
    box.size[d] = shape_.width[d];
  }
  return box;
}

Box HaloGeometry::part(const HaloParts& parts, std::size_t part) const {
  const std::size_t count = parts.count;
  const std::size_t dimension = parts.dimension;
  if (count == 0) throw Error(Errc::invalid_argument, "halo: 0 parts; valid are 1 and more");
  if (dimension >= dimensions())
    throw Error(Errc::invalid_argument,
                fmt::format("halo: the block is cut into parts along dimension {}; it has dimensions 0 to {}",
                            dimension, dimensions() - 1));
  if (part >= count)
    throw Error(Errc::invalid_argument,
                fmt::format("halo: part is {}; the block has {}, numbered from 0 on", part, count));
  // The first ones have a cell more where the cells cannot be divided evenly.
  const std::size_t cells = shape_.interior[dimension];
  const auto first = [&](std::size_t slab) { return slab * (cells / count) + std::min(slab, cells % count); };
  Box box = interior();
  box.start[dimension] += first(part);
  box.size[dimension] = first(part + 1) - first(part);
  return box;
}

Layout HaloGeometry::layout(const Box& box) const {
  return Layout::subarray(extents_, box.size, box.start, Layout::contiguous(shape_.element_bytes));
}

}  // namespace fab
