// Where the blocks of an exchange lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "support/neighbors.h"

namespace bench {

/// A part of a three-dimensional array, last dimension contiguous; numbers of elements.
struct Box {
  std::array<int, 3> sizes;  ///< of the array
  std::array<int, 3> subsizes;
  std::array<int, 3> starts;

  /// Visits the index in the array of each element of the box, in order.
  void for_each(const std::function<void(std::size_t index)>& visit) const;
};

/// The blocks of one size: bytes, one block behind the other. faces: the faces of a cube of doubles, or the sides of a
/// square, with a halo one element wide: what is sent lies inside, what is received in the halo of the same array.
class Boxes {
 public:
  /// Throws std::runtime_error unless a face can have so many bytes.
  Boxes(const Neighbors& neighbors, std::size_t bytes_per_neighbor);

  [[nodiscard]] Box sent(int block, Order order) const { return box(block, order, false); }
  [[nodiscard]] Box received(int block, Order order) const { return box(block, order, true); }
  [[nodiscard]] std::size_t element_bytes() const { return faces_ ? sizeof(double) : 1; }
  [[nodiscard]] std::size_t bytes_per_neighbor() const { return bytes_; }
  [[nodiscard]] std::size_t array_bytes() const;
  /// Blocks are sent out of, and received into, one array.
  [[nodiscard]] bool in_one_array() const { return faces_; }
  /// Of the cube or square, without its halo; 0 without one.
  [[nodiscard]] int edge() const { return edge_; }
  [[nodiscard]] bool flat() const { return flat_; }
  /// Of a cube, or flat a square, whose edges have so many doubles.
  [[nodiscard]] static std::size_t face_bytes(int edge, bool flat);

 private:
  [[nodiscard]] Box box(int block, Order order, bool received) const;

  bool faces_;
  bool flat_;
  int blocks_;
  std::size_t bytes_;
  int edge_ = 0;
};

}  // namespace bench
