// The cube around a grid through which space-filling curves run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fab/mapping.h"

namespace fab::mapping {

/// The smallest cube whose edge is a power of two and that holds the grid. Dimensions with one place take no part.
/// A curve descends through it: bit i of `corner` says in which half of the cube along dimension i a subcube lies.
class Cube {
 public:
  explicit Cube(const Cartesian& grid);

  [[nodiscard]] unsigned dimensions() const noexcept { return static_cast<unsigned>(extents_.size()); }
  [[nodiscard]] unsigned levels() const noexcept { return levels_; }
  /// Where a subcube begins.
  using Origin = std::vector<int>;
  [[nodiscard]] Origin origin() const { return Origin(extents_.size(), 0); }
  /// Moves `origin` to the subcube in that corner, whose edge is 2^level; false where that holds no place of the grid.
  [[nodiscard]] bool enter(Origin& origin, std::uint32_t corner, unsigned level) const;
  /// The place at a subcube of edge 1.
  [[nodiscard]] int place(const Origin& origin) const;

 private:
  std::vector<int> extents_;
  std::vector<int> strides_;
  unsigned levels_ = 0;
};

/// The next rank takes the place, until all are taken.
class RanksAlongCurve {
 public:
  explicit RanksAlongCurve(int places) : ranks_(static_cast<std::size_t>(places)) {}
  void visit(int place) { ranks_[static_cast<std::size_t>(place)] = next_++; }
  [[nodiscard]] Mapping mapping() && { return Mapping(std::move(ranks_)); }

 private:
  std::vector<Rank> ranks_;
  Rank next_ = 0;
};

}  // namespace fab::mapping
