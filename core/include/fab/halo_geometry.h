// Blocks with halos: which cells a stencil code sends to which neighbour, and where its neighbours' cells go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "fab/layout.h"

namespace fab {

/// Where a neighbour, or the halo that comes from it, lies: -1, 0 or +1 per dimension, slowest first.
class Direction {
 public:
  /// So that a tag tells apart all messages that two ranks may exchange at once.
  static constexpr std::size_t kMaxDimensions = 5;

  /// Throws Error(invalid_argument): more dimensions, or another offset.
  Direction(std::initializer_list<int> offsets) : Direction(std::span(offsets.begin(), offsets.size())) {}
  explicit Direction(std::span<const int> offsets);

  [[nodiscard]] std::size_t dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] int operator[](std::size_t dimension) const noexcept { return offsets_[dimension]; }
  [[nodiscard]] Direction opposite() const noexcept;

  bool operator==(const Direction&) const = default;

 private:
  std::array<std::int8_t, kMaxDimensions> offsets_{};
  std::uint8_t dimensions_ = 0;
};

/// "{-1,0,1}"
[[nodiscard]] std::string to_string(const Direction& direction);

/// Cells of a padded block, per dimension.
struct Box {
  std::vector<std::size_t> start;
  std::vector<std::size_t> size;

  bool operator==(const Box&) const = default;
};

/// A rank's block. All arrays slowest dimension first.
struct HaloShape {
  std::vector<std::size_t> interior;           ///< own cells per dimension, at least 1
  std::vector<std::size_t> width;              ///< of the halo on both sides; 0: none there
  std::size_t element_bytes = sizeof(double);  ///< of a cell
  bool corners = false;  ///< halos also come from the neighbours over edges and corners, as a 27-point stencil needs
};

/// A block with its halo around it as one array in C order. Sizes, offsets and strides count cells.
class HaloGeometry {
 public:
  /// Throws Error(invalid_argument): no or more than Direction::kMaxDimensions dimensions, arrays of different lengths,
  /// an interior or element without size, a halo wider than the interior, or more than 2^63-1 bytes.
  explicit HaloGeometry(HaloShape shape);

  [[nodiscard]] const HaloShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t dimensions() const noexcept { return shape_.interior.size(); }
  [[nodiscard]] std::span<const std::size_t> extents() const noexcept { return extents_; }  ///< interior and halo
  [[nodiscard]] std::span<const std::size_t> strides() const noexcept { return strides_; }
  [[nodiscard]] std::size_t interior_offset() const noexcept { return interior_offset_; }  ///< of the first own cell
  [[nodiscard]] std::size_t cells() const noexcept { return extents_.front() * strides_.front(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return cells() * shape_.element_bytes; }

  /// The sides that have a halo, in lexicographic order: 2 per dimension, with corners up to 3^d - 1.
  [[nodiscard]] std::span<const Direction> directions() const noexcept { return directions_; }
  /// Its place among them. Throws Error(invalid_argument) when it is none of them.
  [[nodiscard]] std::size_t index_of(const Direction& direction) const;

  [[nodiscard]] Box interior() const;
  /// The cells beyond that side: what the neighbour there sends.
  [[nodiscard]] Box halo(const Direction& side) const;
  /// The own cells next to that side: what the neighbour there gets.
  [[nodiscard]] Box boundary(const Direction& side) const;
  /// The bytes of a box, from the address of the padded block on.
  [[nodiscard]] Layout layout(const Box& box) const;

 private:
  void check() const;
  void measure();
  void list_directions();

  HaloShape shape_;
  std::vector<std::size_t> extents_;
  std::vector<std::size_t> strides_;
  std::size_t interior_offset_ = 0;
  std::vector<Direction> directions_;
};

}  // namespace fab
