#include "support/box.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

namespace bench {

void Box::for_each(const std::function<void(std::size_t index)>& visit) const {
  for (int i = 0; i < subsizes[0]; ++i) {
    for (int j = 0; j < subsizes[1]; ++j) {
      for (int k = 0; k < subsizes[2]; ++k) {
        const auto row = static_cast<std::size_t>(starts[0] + i) * static_cast<std::size_t>(sizes[1]) +
                         static_cast<std::size_t>(starts[1] + j);
        visit(row * static_cast<std::size_t>(sizes[2]) + static_cast<std::size_t>(starts[2] + k));
      }
    }
  }
}

Boxes::Boxes(const Neighbors& neighbors, std::size_t bytes_per_neighbor)
    : faces_(neighbors.pattern() == Pattern::faces),
      flat_(neighbors.dims().size() == 2),
      blocks_(neighbors.count()),
      bytes_(bytes_per_neighbor) {
  if (!faces_) return;
  const double cells = static_cast<double>(bytes_) / sizeof(double);
  edge_ = static_cast<int>(std::lround(flat_ ? cells : std::sqrt(cells)));
  if (bytes_ == face_bytes(edge_, flat_)) return;
  throw std::runtime_error(
      flat_
          ? fmt::format("--pattern faces: no square of doubles has sides of {} bytes; multiples of 8 are valid", bytes_)
          : fmt::format("--pattern faces: no cube of doubles has faces of {} bytes; 512 and multiples by 4 are valid",
                        bytes_));
}

std::size_t Boxes::array_bytes() const {
  std::size_t elements = 1;
  for (const int size : box(0, Order::fab, false).sizes) elements *= static_cast<std::size_t>(size);
  return elements * element_bytes();
}

std::size_t Boxes::face_bytes(int edge, bool flat) {
  const auto cells = static_cast<std::size_t>(edge);
  return (flat ? cells : cells * cells) * sizeof(double);
}

Box Boxes::box(int block, Order order, bool received) const {
  const auto bytes = static_cast<int>(bytes_);
  if (!faces_) return {.sizes = {1, blocks_, bytes}, .subsizes = {1, 1, bytes}, .starts = {0, block, 0}};
  const int size = edge_ + 2;
  Box face{.sizes = {size, size, size}, .subsizes = {edge_, edge_, edge_}, .starts = {1, 1, 1}};
  if (flat_) face.sizes[0] = face.subsizes[0] = 1;
  if (flat_) face.starts[0] = 0;
  const std::size_t dimension = static_cast<std::size_t>(block / 2) + (flat_ ? 1 : 0);
  const bool positive = (block % 2 == 0) == (order == Order::fab);
  face.subsizes[dimension] = 1;
  face.starts[dimension] = positive ? (received ? edge_ + 1 : edge_) : (received ? 0 : 1);
  return face;
}

}  // namespace bench
