#include "core/topology/mapping/cube.h"

#include <algorithm>
#include <bit>

namespace fab::mapping {

Cube::Cube(const Cartesian& grid) {
  int stride = grid.size();
  for (const int extent : grid.dims()) {
    stride /= extent;
    if (extent == 1) continue;
    extents_.push_back(extent);
    strides_.push_back(stride);
    levels_ = std::max(levels_, static_cast<unsigned>(std::bit_width(static_cast<unsigned>(extent - 1))));
  }
}

bool Cube::enter(Origin& origin, std::uint32_t corner, unsigned level) const {
  for (std::size_t d = 0; d < extents_.size(); ++d) {
    if ((corner >> d & 1u) == 0) continue;
    origin[d] += 1 << level;
    if (origin[d] >= extents_[d]) return false;
  }
  return true;
}

int Cube::place(const Origin& origin) const {
  int place = 0;
  for (std::size_t d = 0; d < extents_.size(); ++d) place += origin[d] * strides_[d];
  return place;
}

}  // namespace fab::mapping
