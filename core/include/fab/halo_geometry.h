// Geometry of a block with a halo: the cells that a stencil code sends to each neighbour, and where cells arrive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "fab/api.h"
#include "fab/layout.h"

namespace fab {

/// A side of a block, on which a neighbour and its halo lie: an offset of -1, 0 or +1 per dimension, slowest first.
class FAB_API Direction {
 public:
  /// With this limit a tag tells apart all messages that two ranks may exchange at once.
  static constexpr std::size_t kMaxDimensions = 5;

  /// @{
  /// `offsets` has one entry per dimension. Throws Error(invalid_argument) for none or more than kMaxDimensions, or an
  /// offset other than -1, 0 and +1.
  Direction(std::initializer_list<int> offsets) : Direction(std::span(offsets.begin(), offsets.size())) {}
  explicit Direction(std::span<const int> offsets);
  /// @}

  /// The number of offsets, 1 to kMaxDimensions.
  [[nodiscard]] std::size_t dimensions() const noexcept { return dimensions_; }
  /// The offset along `dimension`: -1, 0 or +1. Precondition: dimension < dimensions().
  [[nodiscard]] int operator[](std::size_t dimension) const noexcept { return offsets_[dimension]; }
  /// The direction with all offsets negated: the side on which the neighbour sees this rank.
  [[nodiscard]] Direction opposite() const noexcept;

  bool operator==(const Direction&) const = default;  ///< the same number of dimensions, and the same offsets

 private:
  std::array<std::int8_t, kMaxDimensions> offsets_{};
  std::uint8_t dimensions_ = 0;
};

/// The offsets as text: "{-1,0,1}".
[[nodiscard]] FAB_API std::string to_string(const Direction& direction);

/// A box of cells in a padded block: the first cell and the number of cells, per dimension.
struct Box {
  std::vector<std::size_t> start;  ///< index of the first cell, counted from the padded block's first
  std::vector<std::size_t> size;   ///< cells; a 0 makes the box empty

  bool operator==(const Box&) const = default;  ///< the same start and size, also of empty boxes
};

/// The shape of a rank's block. All arrays have one entry per dimension, slowest first.
struct HaloShape {
  std::vector<std::size_t> interior;           ///< the rank's own cells, at least 1
  std::vector<std::size_t> width;              ///< cells of the halo on each side; 0: no halo along this dimension
  std::size_t element_bytes = sizeof(double);  ///< bytes of one cell
  bool corners = false;  ///< also exchange with neighbours across edges and corners, as a 27-point stencil needs
};

/// How the threads of a rank share a block: its own cells are cut along one dimension into slabs of about one size.
struct HaloParts {
  std::size_t count = 1;      ///< slabs, at least 1; some have no cells if there are more of them than cells
  std::size_t dimension = 0;  ///< along which the block is cut
};

/// A block and the halo around it, as one array in C order. Sizes, offsets and strides are numbers of cells.
class FAB_API HaloGeometry {
 public:
  /// Throws Error(invalid_argument) for 0 or more than Direction::kMaxDimensions dimensions, arrays of different
  /// lengths, an interior or element of size 0, a halo wider than the interior, or more than 2^63-1 bytes.
  explicit HaloGeometry(HaloShape shape);

  /// The shape from which this geometry was made.
  [[nodiscard]] const HaloShape& shape() const noexcept { return shape_; }
  /// The number of dimensions, 1 to Direction::kMaxDimensions.
  [[nodiscard]] std::size_t dimensions() const noexcept { return shape_.interior.size(); }
  [[nodiscard]] std::span<const std::size_t> extents() const noexcept { return extents_; }  ///< interior and halo
  /// Per dimension, the cells from one index to the next in the padded block; 1 for the last dimension.
  [[nodiscard]] std::span<const std::size_t> strides() const noexcept { return strides_; }
  [[nodiscard]] std::size_t interior_offset() const noexcept { return interior_offset_; }  ///< of the rank's first cell
  /// The number of cells of the padded block: the product of extents().
  [[nodiscard]] std::size_t cells() const noexcept { return extents_.front() * strides_.front(); }
  /// The size of the padded block's memory, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return cells() * shape_.element_bytes; }

  /// The sides that have a halo, in lexicographic order: 2 per dimension; with corners up to 3^d - 1 in d dimensions.
  [[nodiscard]] std::span<const Direction> directions() const noexcept { return directions_; }
  /// The position of `direction` in directions(). Throws Error(invalid_argument) if that side has no halo.
  [[nodiscard]] std::size_t index_of(const Direction& direction) const;

  /// The rank's own cells.
  [[nodiscard]] Box interior() const;
  /// The halo cells on that side. The neighbour there sends them.
  [[nodiscard]] Box halo(const Direction& side) const;
  /// This rank's cells next to that side. The neighbour there receives them.
  [[nodiscard]] Box boundary(const Direction& side) const;
  /// The rank's own cells that belong to one part. Throws Error(invalid_argument) for a count of 0, and for a dimension
  /// or part that there is not.
  [[nodiscard]] Box part(const HaloParts& parts, std::size_t part) const;
  /// The bytes of a box, relative to the address of the padded block.
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
